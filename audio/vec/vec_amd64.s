#include "textflag.h"

// func dot(a, b *float32, n int) float32
// Blocks of 32 floats in four accumulators hide the latency of the multiply-add, then blocks of 8.
TEXT ·dot(SB), NOSPLIT, $0-28
	MOVQ   a+0(FP), SI
	MOVQ   b+8(FP), DI
	MOVQ   n+16(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

block32:
	CMPQ        CX, $32
	JLT         block8
	VMOVUPS     (SI), Y4
	VMOVUPS     32(SI), Y5
	VMOVUPS     64(SI), Y6
	VMOVUPS     96(SI), Y7
	VFMADD231PS (DI), Y4, Y0
	VFMADD231PS 32(DI), Y5, Y1
	VFMADD231PS 64(DI), Y6, Y2
	VFMADD231PS 96(DI), Y7, Y3
	ADDQ        $128, SI
	ADDQ        $128, DI
	SUBQ        $32, CX
	JMP         block32

block8:
	TESTQ       CX, CX
	JLE         sum
	VMOVUPS     (SI), Y4
	VFMADD231PS (DI), Y4, Y0
	ADDQ        $32, SI
	ADDQ        $32, DI
	SUBQ        $8, CX
	JMP         block8

sum:
	VADDPS       Y1, Y0, Y0
	VADDPS       Y3, Y2, Y2
	VADDPS       Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VHADDPS      X0, X0, X0
	VHADDPS      X0, X0, X0
	VMOVSS       X0, ret+24(FP)
	VZEROUPPER
	RET

// func dot4(w, x *float32, stride, n int, out *[4]float32)
// One load of w serves four rows of x; two accumulators per row.
TEXT ·dot4(SB), NOSPLIT, $0-40
	MOVQ   w+0(FP), SI
	MOVQ   x+8(FP), R8
	MOVQ   stride+16(FP), DX
	MOVQ   n+24(FP), CX
	MOVQ   out+32(FP), DI
	SHLQ   $2, DX
	LEAQ   (R8)(DX*1), R9
	LEAQ   (R9)(DX*1), R10
	LEAQ   (R10)(DX*1), R11
	XORQ   AX, AX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11

pair:
	CMPQ        CX, $16
	JLT         single
	VMOVUPS     (SI)(AX*1), Y4
	VMOVUPS     32(SI)(AX*1), Y5
	VFMADD231PS (R8)(AX*1), Y4, Y0
	VFMADD231PS (R9)(AX*1), Y4, Y1
	VFMADD231PS (R10)(AX*1), Y4, Y2
	VFMADD231PS (R11)(AX*1), Y4, Y3
	VFMADD231PS 32(R8)(AX*1), Y5, Y8
	VFMADD231PS 32(R9)(AX*1), Y5, Y9
	VFMADD231PS 32(R10)(AX*1), Y5, Y10
	VFMADD231PS 32(R11)(AX*1), Y5, Y11
	ADDQ        $64, AX
	SUBQ        $16, CX
	JMP         pair

single:
	TESTQ       CX, CX
	JLE         sum4
	VMOVUPS     (SI)(AX*1), Y4
	VFMADD231PS (R8)(AX*1), Y4, Y0
	VFMADD231PS (R9)(AX*1), Y4, Y1
	VFMADD231PS (R10)(AX*1), Y4, Y2
	VFMADD231PS (R11)(AX*1), Y4, Y3

sum4:
	VADDPS       Y8, Y0, Y0
	VADDPS       Y9, Y1, Y1
	VADDPS       Y10, Y2, Y2
	VADDPS       Y11, Y3, Y3
	VHADDPS      Y1, Y0, Y0
	VHADDPS      Y3, Y2, Y2
	VHADDPS      Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VMOVUPS      X0, (DI)
	VZEROUPPER
	RET

// func sigmoid(x *float32, n int)
// 1/(1+e^-x), eight at a time: e^y = 2^k * e^r with k = round(y/ln 2), see exp in vec.go.
TEXT ·sigmoid(SB), NOSPLIT, $0-16
	MOVQ         x+0(FP), DI
	MOVQ         n+8(FP), CX
	LEAQ         ·expConstants(SB), SI
	VBROADCASTSS (SI), Y8    // limit
	VBROADCASTSS 4(SI), Y9   // -limit
	VBROADCASTSS 8(SI), Y10  // 1/ln 2
	VBROADCASTSS 12(SI), Y11 // ln 2, high part
	VBROADCASTSS 16(SI), Y12 // low part
	VBROADCASTSS 20(SI), Y13 // p5
	VBROADCASTSS 44(SI), Y15 // 1
	VXORPS       Y14, Y14, Y14

eight:
	TESTQ        CX, CX
	JLE          done
	VSUBPS       (DI), Y14, Y0 // y = -x
	VMINPS       Y8, Y0, Y0
	VMAXPS       Y9, Y0, Y0
	VMULPS       Y10, Y0, Y1
	VROUNDPS     $0, Y1, Y1    // k
	VFNMADD231PS Y11, Y1, Y0   // r
	VFNMADD231PS Y12, Y1, Y0
	VMOVAPS      Y13, Y2
	VBROADCASTSS 24(SI), Y3
	VFMADD213PS  Y3, Y0, Y2
	VBROADCASTSS 28(SI), Y3
	VFMADD213PS  Y3, Y0, Y2
	VBROADCASTSS 32(SI), Y3
	VFMADD213PS  Y3, Y0, Y2
	VBROADCASTSS 36(SI), Y3
	VFMADD213PS  Y3, Y0, Y2
	VBROADCASTSS 40(SI), Y3
	VFMADD213PS  Y3, Y0, Y2
	VMULPS       Y0, Y0, Y4    // e^r = p*r*r + r + 1
	VADDPS       Y15, Y0, Y0
	VFMADD213PS  Y0, Y4, Y2
	VCVTPS2DQ    Y1, Y1
	VPSLLD       $23, Y1, Y1   // add k to the exponent
	VPADDD       Y1, Y2, Y2
	VADDPS       Y15, Y2, Y2
	VDIVPS       Y2, Y15, Y2
	VMOVUPS      Y2, (DI)
	ADDQ         $32, DI
	SUBQ         $8, CX
	JMP          eight

done:
	VZEROUPPER
	RET
