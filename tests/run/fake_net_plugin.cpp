// A plugin for NCCL's network that has a name and nothing else.

extern "C" {
struct Net {
  const char* name;
};
extern const Net ncclNetPlugin_v10;
const Net ncclNetPlugin_v10{"Fake Libfabric"};
}
