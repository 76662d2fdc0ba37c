; ModuleID = 'mm'
source_filename = "mm"

; Function Attrs: nounwind
define i32 @mm(ptr noalias nocapture readonly align 64 %A, ptr noalias nocapture readonly align 64 %B, ptr noalias nocapture align 64 %C) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %acc.sroa.4.0 = phi <8 x float> [ zeroinitializer, %entry ], [ %9, %loop ]
  %acc.sroa.0.0 = phi <8 x float> [ zeroinitializer, %entry ], [ %5, %loop ]
  %0 = phi ptr [ %B, %entry ], [ %11, %loop ]
  %1 = phi ptr [ %A, %entry ], [ %10, %loop ]
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %2 = load float, ptr %1, align 8
  %.splatinsert = insertelement <8 x float> poison, float %2, i64 0
  %.splat = shufflevector <8 x float> %.splatinsert, <8 x float> poison, <8 x i32> zeroinitializer
  %3 = load <8 x float>, ptr %0, align 32
  %4 = fmul contract <8 x float> %.splat, %3
  %5 = fadd contract <8 x float> %acc.sroa.0.0, %4
  %6 = getelementptr i8, ptr %1, i64 4
  %7 = load float, ptr %6, align 4
  %.splatinsert1 = insertelement <8 x float> poison, float %7, i64 0
  %.splat2 = shufflevector <8 x float> %.splatinsert1, <8 x float> poison, <8 x i32> zeroinitializer
  %8 = fmul contract <8 x float> %.splat2, %3
  %9 = fadd contract <8 x float> %acc.sroa.4.0, %8
  %10 = getelementptr i8, ptr %1, i64 8
  %11 = getelementptr i8, ptr %0, i64 32
  %next = add nuw nsw i64 %k, 1
  %12 = icmp slt i64 %next, 256
  br i1 %12, label %loop, label %after, !llvm.loop !1

after:                                            ; preds = %loop
  %.lcssa5 = phi <8 x float> [ %5, %loop ]
  %.lcssa = phi <8 x float> [ %9, %loop ]
  store <8 x float> %.lcssa5, ptr %C, align 64
  %13 = getelementptr i8, ptr %C, i64 32
  store <8 x float> %.lcssa, ptr %13, align 32
  ret i32 0
}

; Function Attrs: nounwind
define i32 @mm_packed(ptr %0) #0 {
entry:
  %1 = load ptr, ptr %0, align 8
  %2 = getelementptr ptr, ptr %0, i64 1
  %3 = load ptr, ptr %2, align 8
  %4 = getelementptr ptr, ptr %0, i64 2
  %5 = load ptr, ptr %4, align 8
  %6 = tail call i32 @mm(ptr %1, ptr %3, ptr %5)
  ret i32 %6
}

