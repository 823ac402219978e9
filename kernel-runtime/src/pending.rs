#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub detail: String,
}
impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.detail)
    }
}
impl std::error::Error for Fault {}
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub warp_instructions: u64,
}
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
pub enum MemoryError {
    #[error("x")]
    X,
}
#[derive(Debug)]
pub struct DeviceMemory(std::sync::Mutex<(u64, Vec<u8>)>);
const BASE: u64 = 4096;
impl DeviceMemory {
    pub fn new() -> Self {
        Self(std::sync::Mutex::new((BASE, vec![])))
    }
    pub fn allocate(&self, b: u64) -> Result<u64, MemoryError> {
        let mut m = self.0.lock().unwrap();
        if b > 1 << 30 {
            return Err(MemoryError::X);
        }
        let a = m.0;
        m.0 += b.next_multiple_of(256) + 256;
        let n = (m.0 - BASE) as usize;
        m.1.resize(n, 0);
        Ok(a)
    }
    pub fn free(&self, _: u64) -> Result<(), MemoryError> {
        Ok(())
    }
    pub fn write(&self, a: u64, d: &[u8]) -> Result<(), MemoryError> {
        let mut m = self.0.lock().unwrap();
        let s = (a - BASE) as usize;
        m.1[s..s + d.len()].copy_from_slice(d);
        Ok(())
    }
    pub fn read(&self, a: u64, d: &mut [u8]) -> Result<(), MemoryError> {
        let m = self.0.lock().unwrap();
        let s = (a - BASE) as usize;
        d.copy_from_slice(&m.1[s..s + d.len()]);
        Ok(())
    }
    pub fn copy(&self, a: u64, b: u64, n: u64) -> Result<(), MemoryError> {
        let mut v = vec![0; n as usize];
        self.read(a, &mut v)?;
        self.write(b, &v)
    }
}
#[derive(Debug, Clone)]
pub struct ParamInfo {
    pub name: String,
    pub size: u32,
    pub align: u32,
    pub offset: u32,
}
#[derive(Debug, Clone)]
pub struct EntryInfo {
    pub params: Vec<ParamInfo>,
    pub param_bytes: u32,
    pub static_shared_bytes: u32,
}
#[derive(Debug)]
pub struct Program;
#[derive(Debug, Default)]
pub struct Options;
#[derive(Debug)]
pub struct LaunchConfig {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: Option<[u32; 3]>,
    pub dynamic_shared_bytes: u32,
}
impl Program {
    pub fn parse(_: &str) -> Result<Self, MemoryError> {
        Ok(Self)
    }
    pub fn entry(&self, _: &str) -> Option<&EntryInfo> {
        None
    }
    pub fn launch(
        &self,
        _: &DeviceMemory,
        _: &str,
        _: &LaunchConfig,
        _: &[u8],
        _: &Options,
    ) -> Result<Report, Fault> {
        Ok(Report::default())
    }
}
