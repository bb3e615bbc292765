// A Rust kernel over slices, compiled without a standard library so that nothing but the slices'
// layout, a pointer and a length each, comes from the compiler:
//   RUSTC_BOOTSTRAP=1 rustc --target nvptx64-nvidia-cuda -C target-cpu=sm_75 -O --emit asm saxpy.rs
#![feature(no_core, lang_items, abi_ptx, intrinsics, auto_traits, link_llvm_intrinsics, rustc_attrs)]
#![allow(internal_features)]
#![no_core]
#![crate_type = "cdylib"]

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
pub trait Copy {}
#[lang = "freeze"]
unsafe auto trait Freeze {}
impl Copy for f32 {}
impl Copy for u32 {}
impl Copy for usize {}
impl<T: PointeeSized> Copy for *const T {}
impl<T: PointeeSized> Copy for *mut T {}
#[lang = "legacy_receiver"]
trait Receiver {}
impl<T: PointeeSized> Receiver for &T {}
#[lang = "add"]
pub trait Add<R = Self> {
    type Output;
    fn add(self, r: R) -> Self::Output;
}
impl Add for f32 {
    type Output = f32;
    fn add(self, r: f32) -> f32 {
        self + r
    }
}
impl Add for usize {
    type Output = usize;
    fn add(self, r: usize) -> usize {
        self + r
    }
}
#[lang = "mul"]
pub trait Mul<R = Self> {
    type Output;
    fn mul(self, r: R) -> Self::Output;
}
impl Mul for f32 {
    type Output = f32;
    fn mul(self, r: f32) -> f32 {
        self * r
    }
}
impl Mul for usize {
    type Output = usize;
    fn mul(self, r: usize) -> usize {
        self * r
    }
}
#[lang = "eq"]
pub trait PartialEq<R = Self> {
    fn eq(&self, r: &R) -> bool;
    fn ne(&self, r: &R) -> bool;
}
#[lang = "partial_ord"]
pub trait PartialOrd<R = Self> {
    fn lt(&self, r: &R) -> bool;
    fn le(&self, r: &R) -> bool;
    fn gt(&self, r: &R) -> bool;
    fn ge(&self, r: &R) -> bool;
}
impl PartialOrd for usize {
    fn lt(&self, r: &usize) -> bool {
        *self < *r
    }
    fn le(&self, r: &usize) -> bool {
        *self <= *r
    }
    fn gt(&self, r: &usize) -> bool {
        *self > *r
    }
    fn ge(&self, r: &usize) -> bool {
        *self >= *r
    }
}

extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
    fn thread_index() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.x"]
    fn block_size() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
    fn block_index() -> u32;
}

#[rustc_intrinsic]
unsafe fn arith_offset<T>(from: *const T, count: isize) -> *const T;
#[rustc_intrinsic]
fn ptr_metadata<P: PointeeSized, M>(slice: *const P) -> M;

#[no_mangle]
pub unsafe extern "ptx-kernel" fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = block_index() as usize * block_size() as usize + thread_index() as usize;
    let x = x as *const [f32];
    let y = y as *mut [f32] as *const [f32];
    if i < ptr_metadata::<[f32], usize>(x) {
        if i < ptr_metadata::<[f32], usize>(y) {
            let from = arith_offset(x as *const f32, i as isize);
            let to = arith_offset(y as *const f32, i as isize) as *mut f32;
            *to = a * *from + *to;
        }
    }
}
