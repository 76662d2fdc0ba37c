; ModuleID = 'mm'
source_filename = "mm"

; Function Attrs: nounwind
define i32 @mm(ptr noalias nocapture readonly align 64 %A, ptr noalias nocapture readonly align 64 %B, ptr noalias nocapture align 64 %C) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %acc.sroa.4.0 = phi <8 x float> [ zeroinitializer, %entry ], [ %7, %loop ]
  %acc.sroa.0.0 = phi <8 x float> [ zeroinitializer, %entry ], [ %4, %loop ]
  %0 = phi ptr [ %B, %entry ], [ %9, %loop ]
  %1 = phi ptr [ %A, %entry ], [ %8, %loop ]
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %2 = load float, ptr %1, align 8
  %.splatinsert = insertelement <8 x float> poison, float %2, i64 0
  %.splat = shufflevector <8 x float> %.splatinsert, <8 x float> poison, <8 x i32> zeroinitializer
  %3 = load <8 x float>, ptr %0, align 32
  %4 = call contract <8 x float> @llvm.fmuladd.v8f32(<8 x float> %.splat, <8 x float> %3, <8 x float> %acc.sroa.0.0)
  %5 = getelementptr i8, ptr %1, i64 4
  %6 = load float, ptr %5, align 4
  %.splatinsert1 = insertelement <8 x float> poison, float %6, i64 0
  %.splat2 = shufflevector <8 x float> %.splatinsert1, <8 x float> poison, <8 x i32> zeroinitializer
  %7 = call contract <8 x float> @llvm.fmuladd.v8f32(<8 x float> %.splat2, <8 x float> %3, <8 x float> %acc.sroa.4.0)
  %8 = getelementptr i8, ptr %1, i64 8
  %9 = getelementptr i8, ptr %0, i64 32
  %next = add nuw nsw i64 %k, 1
  %10 = icmp slt i64 %next, 256
  br i1 %10, label %loop, label %after, !llvm.loop !1

after:                                            ; preds = %loop
  %.lcssa5 = phi <8 x float> [ %4, %loop ]
  %.lcssa = phi <8 x float> [ %7, %loop ]
  store <8 x float> %.lcssa5, ptr %C, align 64
  %11 = getelementptr i8, ptr %C, i64 32
  store <8 x float> %.lcssa, ptr %11, align 32
  ret i32 0
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <8 x float> @llvm.fmuladd.v8f32(<8 x float>, <8 x float>, <8 x float>) #1

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

