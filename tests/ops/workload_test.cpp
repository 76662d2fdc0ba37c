#include "tensmith/ops/workload.h"

#include <gtest/gtest.h>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

std::string error_of(const char* text) {
  try {
    parse_workload(text);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Workload, CanonicalTextRoundTrips) {
  for (const char* text :
       {"conv2d:c=64,h=56,w=56,k=64,r=3,s=3,pad=1", "conv2d:c=8,h=17,w=19,k=12,r=3,s=3,pad=1:2:3:0,dilation=2",
        "conv2d:c=3,h=9,w=9,k=4,r=1,s=2,stride=2:1,layout=nchw,weights=plain,epilogue=bias+relu,type=float64",
        "matmul:m=3,n=4,k=5,ta=1", "resnet18.C7", "matmul-1024"}) {
    const std::string canonical = to_string(parse_workload(text));
    EXPECT_EQ(to_string(parse_workload(canonical)), canonical) << text;
  }
  EXPECT_EQ(to_string(parse_workload("resnet18.C6")),
            "conv2d:n=1,c=128,h=28,w=28,k=128,r=3,s=3,stride=1,pad=1,dilation=1,layout=nchw16c,weights=packed,type="
            "float32,epilogue=none");
}

TEST(Workload, ExpressionsAreWorkloadsToo) {
  const Workload workload{FreeExpression{"C[y,x] = sum(k: A[k,y]*B[k,x]) + P[y+x]",
                                         {parse_named_shape("A=5x3"), parse_named_shape("B=5x4"), {"P", {9}, kFloat32}},
                                         {parse_named_extent("y=3")}}};
  const std::string text = to_string(workload);
  EXPECT_EQ(to_string(parse_workload(text)), text);
  EXPECT_EQ(definition(parse_workload(text)).inputs.size(), 3u);
  EXPECT_EQ(to_string(parse_workload("expr: C[y] = A[y] + 1; A=4:float64")), "expr:C[y]=(A[y] + 1); A=4:float64");
  for (const char* bad :
       {"expr:", "expr:C[y] = A[y] A=4:float32", "expr:C[y] = A[y];", "expr:C[y] = A[y]; A", "expr:C[y] = A[y]; A=4"}) {
    EXPECT_THROW(parse_workload(bad), UserError) << bad;
  }
}

TEST(Workload, WhatWasWrittenInCppIsAWorkload) {
  for (const char* text : {"matmul:m=3,n=4,k=5,tb=1,epilogue=bias+relu", "resnet18.C2:epilogue=bias",
                           "resnet18.C7:layout=nchw,type=float64", "conv2d:c=32,h=5,w=6,k=16,r=3,s=2,pad=1:0:2:1"}) {
    const Workload named = parse_workload(text);
    const Workload written = workload_of(definition(named));
    EXPECT_EQ(to_string(parse_workload(to_string(written))), to_string(written)) << text;
    EXPECT_EQ(reduction_length(written), reduction_length(named)) << text;
  }
  const Tensor a = placeholder("A", {8, 4}), b = placeholder("B", {8, 6});
  const Axis k = reduce_axis("k", 8);
  const Tensor c = compute("C", {4, 6}, [&](Axis y, Axis x) { return sum(a(k, y) * b(k, x), k); });
  EXPECT_EQ(to_string(workload_of(make_program({c}))),
            to_string(parse_workload("expr:C[i,j] = sum(k: A[k,i]*B[k,j]); A=8x4:float32 B=8x6:float32")));
}

TEST(Workload, AliasesAreTableOneOfThePaper) {
  const std::vector<Workload> layers = parse_workloads("resnet18");
  ASSERT_EQ(layers.size(), 12u);
  const Conv2d& c1 = std::get<Conv2d>(layers[0].op);
  EXPECT_EQ(c1.out_h(), 112);
  EXPECT_FALSE(c1.data_blocked()) << "three channels are no multiple of the block";
  EXPECT_TRUE(c1.out_blocked());
  EXPECT_EQ(flop_count(layers[5]), 2.0 * 128 * 28 * 28 * 128 * 9);
  EXPECT_EQ(reduction_length(layers[5]), 128 * 9);
  const Conv2d plain = std::get<Conv2d>(parse_workload("resnet18.C6:layout=nchw").op);
  EXPECT_EQ(plain.layout, ActivationLayout::kNchw);
  EXPECT_EQ(plain.c, 128);
}

TEST(Workload, MistakesAreToldWithTheirPlace) {
  EXPECT_EQ(
      error_of("conv3d:c=1"),
      std::string(
          "workload 'conv3d:c=1', at position 1: unknown operator or alias 'conv3d' (hint: operators are conv2d and "
          "matmul; "
          "aliases are resnet18, resnet18.C1, resnet18.C2, resnet18.C3, resnet18.C4, resnet18.C5, resnet18.C6, "
          "resnet18.C7, "
          "resnet18.C8, resnet18.C9, resnet18.C10, resnet18.C11, resnet18.C12, matmul-256, matmul-512, matmul-1024, "
          "matmul-2048; an index expression is given by --expr, or expr:...)"));
  EXPECT_NE(error_of("conv2d:c=64,q=3").find("at position 13: 'q' is no field of conv2d"), std::string::npos);
  EXPECT_NE(error_of("conv2d:c=64,c=3").find("at position 13: field 'c' is given twice"), std::string::npos);
  EXPECT_NE(error_of("conv2d:c=six").find("'six' of field 'c' is no 64-bit integer"), std::string::npos);
  EXPECT_NE(error_of("conv2d:c").find("'c' is no field"), std::string::npos);
  EXPECT_NE(error_of("conv2d:c=64,layout=nhwc").find("'nhwc' is no value of 'layout'"), std::string::npos);
  EXPECT_NE(error_of("conv2d:pad=1:2").find("'pad' takes 1 or 4 numbers, not 2"), std::string::npos);
  EXPECT_NE(error_of("conv2d:type=int8").find("operators of type int8 are not available"), std::string::npos);
  EXPECT_NE(error_of("matmul:m=4,n=4,k=4,ta=2").find("'ta' is 2"), std::string::npos);
  EXPECT_NE(error_of("conv2d").find("conv2d without field 'c'"), std::string::npos);
  EXPECT_NE(error_of("resnet18").find("is a set of 12 workloads"), std::string::npos);
}

TEST(Workload, AnOperatorThatIsWrittenOutSaysItsSize) {
  for (const std::string field : {"c", "h", "w", "k", "r", "s"}) {
    std::string text = "conv2d:";
    for (const std::string other : {"c", "h", "w", "k", "r", "s"}) {
      if (other != field) text += (text.back() == ':' ? "" : ",") + other + "=3";
    }
    EXPECT_NE(error_of(text.c_str()).find("conv2d without field '" + field + "'"), std::string::npos) << text;
  }
  EXPECT_NE(error_of("matmul:m=4,n=4").find("matmul without field 'k'"), std::string::npos);
  EXPECT_NE(error_of("matmul:n=4,k=4").find("matmul without field 'm'"), std::string::npos);
  EXPECT_NE(error_of("matmul").find("for example matmul:m=1024"), std::string::npos);
  EXPECT_EQ(to_string(parse_workload("matmul-256:n=4")).find("matmul:m=256,n=4,k=256,"), 0u)
      << "an alias gives the rest";
}

TEST(Workload, ZeroAndNegativeSizes) {
  for (const char* field : {"c", "k", "r", "s"}) {
    for (const char* value : {"0", "-1"}) {
      const std::string text = std::string("conv2d:h=8,w=8,") + field + "=" + value;
      EXPECT_NE(error_of(text.c_str()).find("it must be at least 1"), std::string::npos) << text;
    }
  }
  EXPECT_NE(error_of("conv2d:h=-1,w=8").find("it must be at least 0"), std::string::npos);
  EXPECT_NE(error_of("conv2d:h=8,w=8,stride=0").find("it must be at least 1"), std::string::npos);
  EXPECT_NE(error_of("conv2d:c=1,h=2,w=2,k=1,r=5,s=5").find("the kernel spans 5x5, more than the padded input of 2x2"),
            std::string::npos);
}

TEST(Workload, NothingToSchedule) {
  EXPECT_EQ(nothing_to_schedule(parse_workload("conv2d:n=0,c=1,h=8,w=8,k=1,r=1,s=1")), "the output is empty");
  EXPECT_EQ(nothing_to_schedule(parse_workload("conv2d:c=1,h=0,w=8,k=1,r=1,s=1")), "the output is empty");
  EXPECT_EQ(nothing_to_schedule(parse_workload("conv2d:c=1,h=0,w=8,k=1,r=1,s=1,pad=1")), "an input is empty");
  EXPECT_EQ(nothing_to_schedule(parse_workload("conv2d:c=1,h=8,w=8,k=1,r=3,s=3")), std::nullopt);
  EXPECT_EQ(nothing_to_schedule(parse_workload("matmul:m=4,n=4,k=0")), "the reduction is empty");
  EXPECT_EQ(nothing_to_schedule(parse_workload("matmul:m=0,n=4,k=0")), "the output is empty");
  const auto expression = [](const char* text, const char* shape) {
    return nothing_to_schedule({FreeExpression{text, {parse_named_shape(shape)}, {}}});
  };
  EXPECT_EQ(expression("C[y] = sum(k: A[k,y])", "A=0x4"), "the reduction is empty");
  EXPECT_EQ(expression("C[y] = sum(k: A[k,y])", "A=4x0"), "the output is empty");
  EXPECT_EQ(expression("C[y] = sum(k: A[k,y])", "A=4x4"), std::nullopt);
}

TEST(Workload, SizesBeyond64BitsAreRefused) {
  EXPECT_NE(
      error_of("conv2d:n=4000000000,c=4000000000,h=8,w=8,k=1,r=1,s=1").find("larger than a 64-bit index can address"),
      std::string::npos);
  EXPECT_NE(error_of("matmul:m=4000000000,n=4000000000,k=1").find("larger than a 64-bit index can address"),
            std::string::npos);
  // An extent of 0 makes the tensors empty, not the others' sums and products small.
  for (const char* text : {"conv2d:c=1,h=9223372036854775807,w=8,k=1,r=1,s=1,pad=9223372036854775807",
                           "conv2d:n=0,c=1,h=4,w=4,k=1,r=3,s=3,pad=9223372036854775807",
                           "conv2d:n=0,c=4000000000,h=4000000000,w=4,k=1,r=1,s=1",
                           "conv2d:c=1,h=4,w=4,k=1,r=1,s=1,stride=9223372036854775807",
                           "matmul:m=0,n=4000000000,k=4000000000", "matmul:m=0,n=0,k=9223372036854775807"}) {
    EXPECT_NE(error_of(text).find("larger than a 64-bit index can address"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tensmith
