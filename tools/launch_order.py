"""Ask a real driver which answer a launch gets that is wrong in two ways at once.

Each row is one launch in a fresh process; the results go to $OUT/res.jsonl (or ./res.jsonl). The
order in which the driver looks (analyzer/launch/judge.c) was learnt from these rows.

  launch_order.py          every row
  launch_order.py N        row N alone
"""
import ctypes as C, json, os, sys, subprocess
def H(body,mods='',params='.param .u64 p',dirs='',ver='9.0',tgt='sm_90'):
    return f".version {ver}\n.target {tgt}\n.address_size 64\n{mods}\n.visible .entry k({params})\n{dirs}\n{{\n{body}\n}}\n"
REG=".reg .f32 %f<210>; .reg .u64 %a; ld.param.u64 %a,[p];"+"".join(f"ld.volatile.global.f32 %f{i},[%a+{4*i}];" for i in range(130))+"".join(f"st.volatile.global.f32 [%a+{4*i}],%f{i};" for i in range(130))+"ret;"
def rows():
    K=dict
    def r(id,ptx,grid=(1,1,1),block=(1,1,1),smem=0,optin=None,cluster=None,coop=False,nonport=None,args='ok',extra=None): return K(id=id,ptx=ptx,grid=grid,block=block,smem=smem,optin=optin,cluster=cluster,coop=coop,nonport=nonport,args=args,extra=extra)
    S=H('ret;'); DS='.extern .shared .align 16 .b8 d[];'
    R=H(REG); RB=(1024,1,1)
    out=[]
    # 701 (registers) with each other
    out+=[r('regs',R,block=RB), r('regs+grid0',R,(0,1,1),RB), r('regs+block>1024',R,block=(1025,1,1)), r('regs+smem',R,block=RB,smem=300000), r('regs+smem49153',R,block=RB,smem=49153),
      r('regs+null',R,block=RB,args=None), r('regs+packed0',R,block=RB,extra=0), r('regs+coop',R,(100000,1,1),RB,coop=True), r('regs+cluster17',R,(17,1,1),RB,cluster=(17,1,1)), r('regs+clusternotmult',R,(3,1,1),RB,cluster=(2,1,1)),r('regs+gridy',R,(1,70000,1),RB)]
    # 701 packed
    out+=[r('packed16',S,extra=16), r('packed16+grid0',S,(0,1,1),extra=16), r('packed16+block1025',S,block=(1025,1,1),extra=16), r('packed16+smem',S,smem=49153,extra=16), r('packed16+maxntid',H('ret;',dirs='.maxntid 128'),block=(129,1,1),extra=16), r('packed16+reqntid',H('ret;',dirs='.reqntid 128'),block=(129,1,1),extra=16),
      r('packed16+clusterbad',S,(3,1,1),cluster=(2,1,1),extra=16), r('packed16+coop',S,(100000,1,1),coop=True,extra=16)]
    # 912 with others
    cb=dict(grid=(3,1,1),cluster=(2,1,1))
    out+=[r('c',S,**cb), r('c+block1025',S,block=(1025,1,1),**cb), r('c+maxntid',H('ret;',dirs='.maxntid 128'),block=(129,1,1),**cb), r('c+reqntid',H('ret;',dirs='.reqntid 128'),block=(129,1,1),**cb), r('c+smem',S,smem=49153,**cb), r('c+smem300k',S,smem=300000,optin=232448,**cb), r('c+null',S,args=None,**cb), r('c+packed0',S,extra=0,**cb), r('c+grid0',S,grid=(0,1,1),cluster=(2,1,1)), r('c+gridy',S,grid=(3,70000,1),cluster=(2,1,1)), r('c+coop',S,grid=(100001,1,1),cluster=(2,1,1),coop=True), r('c17+block1025',S,grid=(17,1,1),cluster=(17,1,1),block=(1025,1,1)),r('creq+block1025',H('ret;',dirs='.reqnctapercluster 2'),(3,1,1),(1025,1,1)),r('creq9+block1025',H('ret;',dirs='.reqnctapercluster 9'),(9,1,1),(1025,1,1)), r('c0+block1025',S,(4,1,1),(1025,1,1),cluster=(0,1,1)), r('cmax+block1025',H('ret;',dirs='.maxclusterrank 4'),(8,1,1),(1025,1,1),cluster=(8,1,1)), r('cmis+block1025',H('ret;',dirs='.reqnctapercluster 2'),(4,1,1),(1025,1,1),cluster=(4,1,1))]
    # 720 with others
    g=dict(grid=(100000,1,1),coop=True)
    out+=[r('j',S,**g), r('j+block1025',S,block=(1025,1,1),**g), r('j+maxntid',H('ret;',dirs='.maxntid 128'),block=(129,1,1),**g), r('j+smem',S,smem=49153,**g), r('j+null',S,args=None,**g), r('j+gridy',S,grid=(1,70000,1),coop=True), r('coop2112',S,grid=(2112,1,1),block=(64,1,1),coop=True), r('coop4224',S,grid=(4224,1,1),block=(64,1,1),coop=True), r('coop4224b1024',S,grid=(265,1,1),block=(1024,1,1),coop=True), r('coop264b1024',S,grid=(264,1,1),block=(1024,1,1),coop=True), r('coop_y',S,grid=(1,4225,1),block=(64,1,1),coop=True), r('coop+c2',S,grid=(4224,1,1),block=(64,1,1),coop=True,cluster=(2,1,1)), r('coop+c8',S,grid=(4224,1,1),block=(64,1,1),coop=True,cluster=(8,1,1)), r('coop+c8s',S,grid=(1056,1,1),block=(64,1,1),coop=True,cluster=(8,1,1)), r('coop_smem',S,grid=(528,1,1),block=(64,1,1),coop=True,smem=49000), r('coop_smem2',S,grid=(529,1,1),block=(64,1,1),coop=True,smem=49000), r('coop_smem3',S,grid=(132,1,1),block=(64,1,1),coop=True,smem=232448,optin=232448), r('coop_smem4',S,grid=(133,1,1),block=(64,1,1),coop=True,smem=232448,optin=232448), r('coopregs',R,grid=(132*3,1,1),block=(128,1,1),coop=True), r('coopregs2',R,grid=(132*3+1,1,1),block=(128,1,1),coop=True)]
    # optin lower
    D=H('.reg .u32 %r; mov.u32 %r,d; st.shared.u32 [%r],%r; ret;',DS)
    for o,s in ((0,0),(0,1),(0,1024),(1024,2048),(1024,49152),(1024,49153),(50000,50001),(50000,49152),(2**31-1,0),(-1,0),(232448,232448),(232449,0),(-1,1024)): out.append(r(f'opt{o}_s{s}',D,smem=s,optin=o))
    B=H('.reg .u32 %r; mov.u32 %r,s; st.shared.u32 [%r],%r; ret;','.shared .align 16 .b8 s[60000];')
    for o,s in ((None,0),(None,1000),(None,172448),(None,172449),(0,0),(1000,1000),(1000,1001),(172448,172448),(172449,0)): out.append(r(f'big60000_opt{o}_s{s}',B,smem=s,optin=o))
    # clusters
    for d,gr,c,np in (('.reqnctapercluster 2',(3,1,1),None,None),('.reqnctapercluster 3',(3,1,1),None,None),('.reqnctapercluster 2,2',(4,2,1),None,None),('.reqnctapercluster 2,2',(4,2,1),(4,1,1),None),('.reqnctapercluster 2,2',(4,2,1),(2,2,1),None),('.reqnctapercluster 2',(4,1,1),(1,1,1),None),('.explicitcluster',(4,1,1),None,None),('.explicitcluster',(4,1,1),(1,1,1),None),('.explicitcluster\n.reqnctapercluster 2',(4,1,1),(4,1,1),None),('.maxclusterrank 4',(4,1,1),None,None),('.maxclusterrank 16',(16,1,1),(16,1,1),None),('.maxclusterrank 16',(16,1,1),(16,1,1),1),('.maxclusterrank 32',(32,1,1),(32,1,1),1),('',(17,1,1),(17,1,1),1),('',(9,1,1),(9,1,1),1),('',(2,2,2),(2,2,2),None),('',(3,3,1),(3,3,1),None),('',(4,3,1),(2,2,1),None),('',(4,1,1),(2,0,1),None),('',(1,1,1),(2,1,1),None),('.reqntid 128\n.reqnctapercluster 2\n.blocksareclusters',(3,1,1),None,None),('.reqntid 128\n.reqnctapercluster 2\n.blocksareclusters',(3,1,1),(2,1,1),None),('.reqntid 128\n.reqnctapercluster 2\n.blocksareclusters',(4,1,1),(2,1,1),None)):
        for b in ((1,1,1),(128,1,1),(129,1,1)) if 'reqntid' in d else ((1,1,1),): out.append(r(f'cl[{d!r}]_g{gr}_c{c}_np{np}_b{b}',H('ret;',dirs=d),gr,b,cluster=c,nonport=np))
    # cluster with large shared
    for n,np in ((2,None),(8,None),(16,1)):
        for s in (100000,232448): out.append(r(f'clsm{n}_{s}',D,(16,1,1),(32,1,1),smem=s,optin=232448,cluster=(n,1,1),nonport=np))
    out.append(r('clthr16x1024',S,(16,1,1),(1024,1,1),cluster=(16,1,1),nonport=1))
    # local
    for n in (500000,524000,524288-16,524288-8,524288,524289,524296,524304,1<<20): out.append(r(f'local{n}',H(f'.local .align 8 .b8 l[{n}]; .reg .u64 %a,%b; .reg .u32 %r; ld.param.u64 %a,[p]; mov.u32 %r,%tid.x; cvt.u64.u32 %b,%r; mov.u64 %a,l; add.u64 %a,%a,%b; st.local.u8 [%a],%r; ld.volatile.local.u8 %r,[%a+5]; ld.param.u64 %a,[p]; st.global.u32 [%a],%r; ret;')))
    N=H('ret;',params='')
    out+=[r('nop_extra0',N,extra=0),r('nop_extra4',N,extra=4),r('nop_null',N,args=None)]
    out+=[r('grid+block both',S,(2147483647,65535,65535),(1,1,1),args=None), r('packed_null',S,args=None,extra=None)]
    # 720 vs 701 packed etc
    out+=[r('local+packed16',H('.local .align 8 .b8 l[600000]; .reg .u64 %a,%b; .reg .u32 %r; mov.u32 %r,%tid.x; cvt.u64.u32 %b,%r; mov.u64 %a,l; add.u64 %a,%a,%b; st.local.u8 [%a],%r; ld.volatile.local.u8 %r,[%a+5]; ld.param.u64 %a,[p]; st.global.u32 [%a],%r; ret;'),extra=16), r('local+c',H('.local .align 8 .b8 l[600000]; .reg .u64 %a,%b; .reg .u32 %r; mov.u32 %r,%tid.x; cvt.u64.u32 %b,%r; mov.u64 %a,l; add.u64 %a,%a,%b; st.local.u8 [%a],%r; ld.volatile.local.u8 %r,[%a+5]; ld.param.u64 %a,[p]; st.global.u32 [%a],%r; ret;'),**cb)]
    # shared layouts
    def lay(decls,touch,dyn=None):
        regs='.reg .u32 %r;'; b=regs+''.join(f'mov.u32 %r,{t}; st.shared.u8 [%r],%r; st.volatile.shared.u8 [%r],%r;' for t in touch)
        return H('.reg .u64 %a; .reg .u32 %q; ld.param.u64 %a,[p];'+regs+''.join(f'mov.u32 %r,{t}; st.volatile.shared.u8 [%r],%r; st.global.u32 [%a+{4*i}],%r;' for i,t in enumerate(touch))+'ret;',decls)
    LS=[('.shared .align 1 .b8 a[1]; .shared .align 16 .b8 b[16];','ab'),('.shared .align 16 .b8 b[16];.shared .align 1 .b8 a[1]; .shared .align 4 .b8 c[4];','abc'),('.shared .align 4 .b8 a[5]; .shared .align 4 .b8 b[5];','ab'),('.shared .align 4 .b8 a[5]; .shared .align 4 .b8 b[5];.shared .align 8 .b8 c[3];.shared .align 1 .b8 d[1];','dcba'),('.shared .align 128 .b8 a[5];.shared .align 1 .b8 d[1];','ad'),('.shared .align 1 .b8 d[1];','d'),('.shared .align 1 .b8 d[3];.extern .shared .align 1 .b8 e[];','de'),('.shared .align 1 .b8 d[3];.extern .shared .align 8 .b8 e[];.extern .shared .align 64 .b8 f[];','def'),('.shared .align 1 .b8 d[3];.extern .shared .align 8 .b8 e[];.extern .shared .align 64 .b8 f[];','de'),('.extern .shared .align 1024 .b8 e[];','e'),('.shared .align 2 .b8 z[2]; .shared .align 1 .b8 y[7]; .shared .align 2 .b8 x[10]; .shared .align 4 .b8 w[4];','zyxw'),('.shared .align 2 .b8 z[2]; .shared .align 1 .b8 y[7]; .shared .align 2 .b8 x[10]; .shared .align 4 .b8 w[4];','wxyz'),('.shared .align 4 .b32 w;.shared .align 1 .b8 y[700];.shared .b64 q;','wyq'),('.shared .align 4096 .b8 w[4];.shared .align 1 .b8 y[7];','wy'),('.extern .shared .align 4 .b8 e[40];.shared .align 1 .b8 y[7];','ey')]
    for i,(d,t) in enumerate(LS): out.append(r(f'lay{i} {d} {t}',lay(d,t)))
    return out
def child(i):
    r=rows()[i]; cu=C.CDLL('libcuda.so.1'); o={}
    def ck(k,v):
        n=C.c_char_p(); cu.cuGetErrorName(v,C.byref(n)); o[k]=n.value.decode() if n.value else str(v); return v==0
    cu.cuInit(0); d=C.c_int(); cu.cuDeviceGet(C.byref(d),0); ctx=C.c_void_p(); cu.cuDevicePrimaryCtxRetain(C.byref(ctx),d); cu.cuCtxSetCurrent(ctx)
    m=C.c_void_p(); f=C.c_void_p()
    log=C.create_string_buffer(2000); opts=(C.c_int*2)(5,6); vals=(C.c_void_p*2)(C.cast(log,C.c_void_p),2000)
    def go():
        if not ck('load',cu.cuModuleLoadDataEx(C.byref(m),r['ptx'].encode()+b'\0',2,opts,vals)): o['log']=log.value.decode()[:300]; return
        if not ck('get',cu.cuModuleGetFunction(C.byref(f),m,b'k')): return
        at={}
        for n,a in (('max_threads',0),('shared',1),('const',2),('local',3),('regs',4),('max_dyn',8)):
            v=C.c_int(); cu.cuFuncGetAttribute(C.byref(v),a,f); at[n]=v.value
        o['attrs']=at
        if r['optin'] is not None:
            if not ck('set_optin',cu.cuFuncSetAttribute(f,8,C.c_int(r['optin']))): return
        if r['nonport'] is not None:
            if not ck('set_np',cu.cuFuncSetAttribute(f,14,C.c_int(r['nonport']))): return
        buf=C.c_uint64(); cu.cuMemAlloc_v2(C.byref(buf),4<<20)
        cu.cuMemsetD8_v2(buf,0,4<<20)
        kp=None; ex=None
        if r['args'] is not None and r['extra'] is None:
            kp=(C.c_void_p*1)(C.cast(C.pointer(buf),C.c_void_p))
        if r['extra'] is not None:
            pb=C.create_string_buffer(64); C.memmove(pb,C.byref(buf),8); sz=C.c_size_t(r['extra'])
            ex=(C.c_void_p*5)(1,C.cast(pb,C.c_void_p),2,C.cast(C.pointer(sz),C.c_void_p),0)
        if r['cluster'] or r['coop']:
            class A(C.Structure): _fields_=[('id',C.c_int),('pad',C.c_int),('v',C.c_uint*16)]
            class L(C.Structure): _fields_=[('g',C.c_uint*3),('b',C.c_uint*3),('s',C.c_uint),('st',C.c_void_p),('at',C.POINTER(A)),('n',C.c_uint)]
            at=[]
            if r['cluster']:
                a=A(); a.id=4
                for i in range(3): a.v[i]=r['cluster'][i]
                at.append(a)
            if r['coop']: a=A(); a.id=2; a.v[0]=1; at.append(a)
            arr=(A*len(at))(*at); l=L(); l.g[:]=r['grid']; l.b[:]=r['block']; l.s=r['smem']; l.at=arr; l.n=len(at)
            if not ck('launch',cu.cuLaunchKernelEx(C.byref(l),f,kp,ex)): return
        else:
            if not ck('launch',cu.cuLaunchKernel(f,*r['grid'],*r['block'],C.c_uint(r['smem']&0xffffffff),None,kp,ex)): return
        ck('sync',cu.cuCtxSynchronize())
        if r['id'].startswith('lay'):
            v=(C.c_uint*6)(); cu.cuMemcpyDtoH_v2(v,buf,24); o['addr']=list(v)
    go(); print(json.dumps({'id':r['id'],'out':o}))
if len(sys.argv)>1: child(int(sys.argv[1]))
else:
    from concurrent.futures import ThreadPoolExecutor
    R=rows()
    def one(i):
        try: p=subprocess.run([sys.executable,__file__,str(i)],capture_output=True,text=True,timeout=60); return p.stdout.strip() or json.dumps({'id':R[i]['id'],'out':'died '+str(p.returncode)+p.stderr[-200:]})
        except subprocess.TimeoutExpired: return json.dumps({'id':R[i]['id'],'out':'hang'})
    with ThreadPoolExecutor(6) as e, open(os.environ.get('OUT','.')+'/res.jsonl','w') as f:
        for l in e.map(one,range(len(R))): f.write(l+'\n')
    print(len(R))
