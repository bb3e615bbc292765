"""Ask a real driver where static shared variables lie, how large cooperative cluster grids may be,
and from which size on local memory is refused (analyzer/facts, analyzer/launch)."""
import ctypes as C
cu=C.CDLL('libcuda.so.1');cu.cuInit(0);x=C.c_void_p();cu.cuDevicePrimaryCtxRetain(C.byref(x),0);cu.cuCtxSetCurrent(x)
class Attr(C.Structure): _fields_=[('id',C.c_int),('p',C.c_int),('v',C.c_uint*16)]
class L(C.Structure): _fields_=[('g',C.c_uint*3),('b',C.c_uint*3),('s',C.c_uint),('st',C.c_void_p),('at',C.POINTER(Attr)),('n',C.c_uint)]
h='.version 9.0\n.target sm_90\n.address_size 64\n.visible .global .u32 o[16];\n'
R='.reg .u32 %r<9>;.reg .u64 %a<4>;'
def load(t):
    m=C.c_void_p();f=C.c_void_p();r=cu.cuModuleLoadData(C.byref(m),(h+t).encode()+b'\0')
    if r: return r,0,0
    cu.cuModuleGetFunction(C.byref(f),m,b'k');return 0,m,f
def run(f,g,b,s=0,c=0,co=0,ex=-1):
    at=[]
    if c:a=Attr();a.id=4;a.v[:3]=c,1,1;at.append(a)
    if co:a=Attr();a.id=2;a.v[0]=1;at.append(a)
    l=L();l.g[:]=g,1,1;l.b[:]=b if isinstance(b,tuple) else (b,1,1);l.s=s;l.at=(Attr*2)(*at);l.n=len(at)
    e=None
    if ex>=0: z=C.c_size_t(ex);pb=C.create_string_buffer(64);e=(C.c_void_p*5)(1,C.cast(pb,C.c_void_p),2,C.cast(C.pointer(z),C.c_void_p),0)
    r=cu.cuLaunchKernelEx(C.byref(l),f,None,e)
    return r,cu.cuCtxSynchronize()
i=[0]
def T(v):
    o=''
    for n in v: o+=f'mov.u32 %r1,{n};st.volatile.shared.u8 [%r1],%r1;st.global.u32 [o+{4*i[0]}],%r1;';i[0]+=1
    return o
S='.shared .align {} .b8 {}[{}];'.format
def lay(mods,order,fn=''):
    i[0]=0;F=fn() if fn else '';t=mods+F+'.visible .entry k(){'+R+order()+'ret;}';r,m,f=load(t)
    if r: print(r,t);return
    v=C.c_int();cu.cuFuncGetAttribute(C.byref(v),1,f);q=run(f,1,1);p=C.c_uint64();z=C.c_size_t();cu.cuModuleGetGlobal_v2(C.byref(p),C.byref(z),m,b'o');b=(C.c_uint*16)();cu.cuMemcpyDtoH_v2(b,p,64)
    print(v.value,q,[a-1024 for a in b[:i[0]]])
A=S(1,'d',3);G=A+S(4,'g',3)+S(4,'h',100)
f=lambda:'.func f(){'+R+S(2,'x',7)+T('xg')+'ret;}'
f2=lambda:f()+'.func f2(){'+R+S(16,'y',33)+'call f;'+T('yh')+'ret;}'
lay(A,lambda:S(4,'l',5)+T('ld'));lay(A,lambda:S(4,'l',5)+T('d'));lay(A,lambda:S(4,'l',5)+T('dl'));lay(A+S(4,'g',3),lambda:S(4,'l',5)+S(1,'m',3)+T('gml'))
lay(A+S(4,'g',3),lambda:S(4,'l',5)+S(1,'m',3)+T('lmgd'))
print('xgyhdl');lay(G,lambda:S(1,'l',1)+'call f2;'+T('dl'),f2);lay(G,lambda:S(1,'l',1)+T('dl')+'call f2;',f2)
print('xgdh');lay(G,lambda:'call f;'+T('dh'),f)
print('xg y hd');lay(G,lambda:'call f2;'+T('d'),f2)
lay(G,lambda:S(8,'l',9)+'{'+S(2,'m',3)+T('m')+'}'+T('hd'))
r,m,k=load('.visible .entry k(){ret;}')
for b in(64,1024):
  for c in(1,2,4,8):
    lo,hi=0,5000
    while hi-lo>1:
        q=(lo+hi)//2
        if run(k,q*c,b,0,c,1)[0]==0: lo=q
        else: hi=q
    print('coop',b,c,lo*c)
print('coop smem over',run(k,1,64,300000,0,1),run(k,1,64,49153,0,1))
for n in(500000,523000,523264,524000,524272,524280,524288,524289,524296,1<<20):
    r,m,f=load(f'.visible .entry k(.param .u64 p){{{R}.local .align 8 .b8 l[{n}];mov.u32 %r1,%tid.x;cvt.u64.u32 %a1,%r1;mov.u64 %a2,l;add.u64 %a2,%a2,%a1;st.local.u8 [%a2],%r1;ld.local.u8 %r2,[%a2+5];st.global.u32 [o],%r2;ret;}}')
    v=C.c_int();cu.cuFuncGetAttribute(C.byref(v),3,f)
    e=[run(f,1,1,0,0,0,8)]
    if n>=1<<20: e+=[run(f,1,1,0,0,0,16),run(f,3,1,0,2,0,8),run(f,1,1,0,0,1,8),run(f,99999,1,0,0,1,8),run(f,1,1,50000,0,0,8)]
    print('local',n,r,v.value,e)
r,m,f=load('.visible .entry k() .reqntid 128,2 .reqnctapercluster 2 .blocksareclusters {ret;}')
for b in(1,64,128,127,(128,2,1),(1,2,1),(2,128,1),(64,2,1),(256,1,1)): print('bac',b,run(f,3,b))
