# emu.py KERNEL_DIR key=value...: prints the kernel's text for the host
import re, sys
kd=sys.argv[1]
d=dict(a.split('=') for a in sys.argv[2:])
W=int(d['WAITS']);R=int(d['RANKS']); q=W>0 or R>0
d['QUEUED']='1' if q else '0'; d['MOST_RANKS']=str(R or 64)
rd=lambda n:open(f'{kd}/{n}.cu').read()
t=rd('tiles')+(rd('waits') if q else '')+(rd('rows') if W else '')+rd('hopper_parts')+(rd('peer_store') if R else '')+'\n__device__ __forceinline__ void multiply(float* sums, u64 a, u64 b, int add) {}\n'+rd('hopper_gemm')
def balanced(s,i):
    depth=0
    while True:
        c=s[i]
        if c=='"':
            i+=1
            while s[i]!='"':
                if s[i]=='\\': i+=1
                i+=1
        elif c=='(' : depth+=1
        elif c==')':
            depth-=1
            if depth==0: return i+1
        i+=1
def body(s,i):
    depth=0
    while True:
        c=s[i]
        if c=='"':
            i+=1
            while s[i]!='"':
                if s[i]=='\\': i+=1
                i+=1
        elif c=="'" : i+=2
        elif c=='{': depth+=1
        elif c=='}':
            depth-=1
            if depth==0: return i+1
        i+=1
def replace(name,text,count=1):
    global t
    m=re.search(r'(template <[^>]*>\s*)?__device__ __forceinline__ [\w ]+[\*&]? ?'+name+r'\(',t)
    assert m,name
    i=balanced(t,m.end()-1); j=t.index('{',i); k=body(t,j)
    t=t[:j]+'{'+text+'}'+t[k:]
t=t.replace('''    asm volatile("ld.shared.u32 %0, [%1];"
                 : "=r"(todo)
                 : "r"(shared_address(items.tasks + consumer))
                 : "memory");''','    todo = *reinterpret_cast<volatile u32*>(emu::at(shared_address(items.tasks + consumer)));')
t=t.replace('asm volatile("st.shared.u32 [%0], %1;" ::"r"(buffers.task), "r"(static_cast<u32>(todo)) : "memory");','*reinterpret_cast<volatile u32*>(emu::at(buffers.task)) = todo;')
replace('barrier_init','emu::init(barrier,count);')
replace('barrier_expect','emu::expect(barrier,bytes);')
replace('barrier_arrive','emu::arrive(barrier);')
replace('barrier_wait','emu::wait(barrier,phase);')
replace('cluster_rank','return emu::cluster_rank();')
replace('at_other','return emu::at_other(address);')
replace('cluster_barrier','emu::cluster_barrier();')
replace('send_to_other','emu::send(at_other(to),value,at_other(barrier));')
replace('barrier_arrive_at_other','emu::arrive(at_other(barrier));')
replace('prefetch','')
replace('load','emu::load(to,map,barrier,x,y,z);')
replace('load_for_both','emu::load(to,map,barrier,x,y,z); emu::load(at_other(to),map,at_other(barrier),x,y,z);')
replace('store','emu::store(map,from,x,y,z);')
replace('load_bytes','emu::load_bytes(to,from,barrier,bytes);')
replace('store_bytes','emu::store_bytes(to,from,bytes);')
replace('descriptor','return address;')
replace('shared_address','return emu::address(pointer);')
replace('packed','return 0;')
replace('exchange_halves','cluster_barrier(); cluster_barrier();')
replace('write_slab','emu::write_slab(slab);')
replace('multiply','emu::multiply(a,b);')
if q:
    replace('has_reached','return emu::has_reached(word,value);')
    replace('increment','emu::increment(word,by);')
    replace('publish','emu::publish(word,value);')
    replace('seen','return emu::seen(word);')
    replace('is_over','return emu::is_over();')
    replace('give_up','')
if R:
    replace('add_fragments','emu::add(slab);')
    replace('write_fragments','emu::write_slab(slab);')
    replace('add_packed','')
# the rest of asm
out='';i=0
for m in re.finditer(r'\basm( volatile)?\s*\(',t):
    if m.start()<i: continue
    j=balanced(t,m.end()-1)
    out+=t[i:m.start()]+'((void)0)'
    i=j
t=out+t[i:]
t=t.replace('for (int i = lane; i < 192; i += 32)','for (int i = lane; i < 192; ++i)')
t=t.replace('extern __shared__ char memory[];','char* memory = emu::dynamic();')
t=re.sub(r'__shared__ alignas\(8\) u64 barriers\[[^;]*;','u64* barriers = emu::barriers();',t)
t=t.replace('__shared__ Items items;','Items& items = *reinterpret_cast<Items*>(emu::statics());')
t=t.replace('extern "C" __global__ void','void').replace('hopper_gemm(','kernel(')
t=''.join(f'#define {k} {v}\n' for k,v in d.items())+'#include "shim.hpp"\nnamespace device {\n#include "names.hpp"\n'+t+'\n}\n#include "harness.hpp"\n'
print(t)
