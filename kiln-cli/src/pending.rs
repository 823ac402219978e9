pub use kernel_emulator as _;
#[derive(Clone, Debug)]
pub struct Fault { pub detail: String }
impl std::fmt::Display for Fault { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(&self.detail) } }
impl std::error::Error for Fault {}
#[derive(Clone, Debug)]
pub struct ParseError;
impl std::fmt::Display for ParseError { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("x") } }
impl std::error::Error for ParseError {}
#[derive(Clone, Debug, Default)]
pub struct Report { pub warp_instructions: u64, pub lane_instructions: u64, pub shared_bank_conflicts: u64, pub output: String }
#[derive(Debug, Clone)]
pub enum MemoryError { OutOfMemory { bytes: u64 }, X, NeverWritten { address: u64 } }
impl std::fmt::Display for MemoryError { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("x") } }
#[derive(Debug, Default)]
pub struct DeviceMemory;
impl DeviceMemory {
    pub fn new() -> Self { Self }
    pub fn allocate_aligned(&self, _: u64, _: u64) -> Result<u64, MemoryError> { Ok(0) }
    pub fn write(&self, _: u64, _: &[u8]) -> Result<(), MemoryError> { Ok(()) }
    pub fn read(&self, _: u64, _: &mut [u8]) -> Result<(), MemoryError> { Ok(()) }
}
#[derive(Debug, Clone)]
pub struct ParamInfo { pub name: String, pub size: u32, pub align: u32, pub offset: u32 }
#[derive(Debug, Clone)]
pub struct EntryInfo { pub params: Vec<ParamInfo>, pub param_bytes: u32, pub static_shared_bytes: u32 }
#[derive(Debug)]
pub struct Program;
#[derive(Debug, Default)]
pub struct Options { pub threads: Option<usize> }
#[derive(Debug)]
pub struct LaunchConfig { pub grid: [u32; 3], pub block: [u32; 3], pub cluster: Option<[u32; 3]>, pub dynamic_shared_bytes: u32 }
impl Program {
    pub fn parse(_: &str) -> Result<Self, ParseError> { Ok(Self) }
    pub fn entry(&self, _: &str) -> Option<&EntryInfo> { None }
    pub fn launch(&self, _: &DeviceMemory, _: &str, _: &LaunchConfig, _: &[u8], _: &Options) -> Result<Report, Fault> { Ok(Report::default()) }
}
