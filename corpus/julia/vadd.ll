; A vector addition as CUDA.jl 4 lays out its entries: the kernel state first, then the device arrays
; {pointer, maxsize, dims, length}, all by value.
;   llc -mcpu=sm_75 -mattr=+ptx63 vadd.ll -o vadd.ptx
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define void @_Z4vadd13CuDeviceArrayI7Float32Li1ELi1EES1_S1_({ i64, i32 } %state, { i8 addrspace(1)*, i64, [1 x i64], i64 } %a, { i8 addrspace(1)*, i64, [1 x i64], i64 } %b, { i8 addrspace(1)*, i64, [1 x i64], i64 } %c) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %ntid, %ctaid
  %i32 = add i32 %base, %tid
  %i = zext i32 %i32 to i64
  %n = extractvalue { i8 addrspace(1)*, i64, [1 x i64], i64 } %c, 3
  %in = icmp ult i64 %i, %n
  br i1 %in, label %body, label %done
body:
  %pa8 = extractvalue { i8 addrspace(1)*, i64, [1 x i64], i64 } %a, 0
  %pb8 = extractvalue { i8 addrspace(1)*, i64, [1 x i64], i64 } %b, 0
  %pc8 = extractvalue { i8 addrspace(1)*, i64, [1 x i64], i64 } %c, 0
  %pa = bitcast i8 addrspace(1)* %pa8 to float addrspace(1)*
  %pb = bitcast i8 addrspace(1)* %pb8 to float addrspace(1)*
  %pc = bitcast i8 addrspace(1)* %pc8 to float addrspace(1)*
  %qa = getelementptr float, float addrspace(1)* %pa, i64 %i
  %qb = getelementptr float, float addrspace(1)* %pb, i64 %i
  %qc = getelementptr float, float addrspace(1)* %pc, i64 %i
  %x = load float, float addrspace(1)* %qa
  %y = load float, float addrspace(1)* %qb
  %z = fadd float %x, %y
  store float %z, float addrspace(1)* %qc
  br label %done
done:
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{void ({ i64, i32 }, { i8 addrspace(1)*, i64, [1 x i64], i64 }, { i8 addrspace(1)*, i64, [1 x i64], i64 }, { i8 addrspace(1)*, i64, [1 x i64], i64 })* @_Z4vadd13CuDeviceArrayI7Float32Li1ELi1EES1_S1_, !"kernel", i32 1}
