//! rust-analyzer as an editor starts it: a process that is asked in the Language Server Protocol, version 3.17.

use std::{
    collections::HashMap,
    fmt::Write as _,
    io::{self, BufRead, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    time::Duration,
};

use serde_json::{Value, json};

/// How long the server may be silent. It loads the workspace first.
const PATIENCE: Duration = Duration::from_secs(300);

/// A server that has loaded the workspace.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    /// The version of each open document, by its address.
    open: HashMap<String, u64>,
}

impl Server {
    /// Starts it, and waits until it has loaded the workspace.
    ///
    /// # Errors
    /// A program that cannot be started, that ends, that is silent for too long, or that cannot load the workspace.
    pub(crate) fn start(program: &Path, root: &Path) -> Result<Server, String> {
        let mut process = Command::new(program)
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let pipes = (process.stdin.take(), process.stdout.take());
        let (Some(to), Some(output)) = pipes else { return Err("it has no pipes".to_owned()) };
        let (sender, from) = mpsc::channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Ok(message) = message(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut server = Server { process, to, from, next: 0, open: HashMap::new() };
        let macros = [
            "cargo",
            "build",
            "--offline",
            "--quiet",
            "--message-format=json",
            "--package=kiln-gpu-macros",
        ];
        server.ask(
            "initialize",
            &json!({
                "processId": std::process::id(),
                "rootUri": address(root),
                "capabilities": {
                    "textDocument": { "hover": { "contentFormat": ["plaintext"] } },
                    "experimental": { "serverStatusNotification": true },
                },
                "initializationOptions": {
                    "cachePriming": { "enable": false },
                    "cargo": { "buildScripts": { "overrideCommand": macros } },
                    "checkOnSave": false,
                    "linkedProjects": [root.join("Cargo.toml")],
                },
            }),
        )?;
        server.tell("initialized", &json!({}))?;
        loop {
            let message = server.hear()?;
            let status = &message["params"];
            if message["method"] == "experimental/serverStatus" && status["quiescent"] == true {
                return match status["health"].as_str() {
                    Some("error") => Err(format!("the workspace is not loaded: {status}")),
                    Some(_) | None => Ok(server),
                };
            }
        }
    }

    /// Has the server take `text` for what stands in a file of the workspace.
    ///
    /// # Errors
    /// A server that has ended.
    pub(crate) fn show(&mut self, file: &Path, text: &str) -> Result<(), String> {
        let address = address(file);
        let version = self.open.entry(address.clone()).or_default();
        *version += 1;
        let version = *version;
        if version == 1 {
            let document = json!({
                "uri": address, "languageId": "rust", "version": version, "text": text
            });
            return self.tell("textDocument/didOpen", &json!({ "textDocument": document }));
        }
        let document = json!({ "uri": address, "version": version });
        let changes = json!([{ "text": text }]);
        self.tell(
            "textDocument/didChange",
            &json!({ "textDocument": document, "contentChanges": changes }),
        )
    }

    /// What the server answers.
    ///
    /// # Errors
    /// An error that it answers; a server that has ended or is silent for too long.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        // The server asks to ask again while a change is being read.
        loop {
            self.next += 1;
            let id = self.next;
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
            let answer = loop {
                let message = self.hear()?;
                if message["id"] == id && message.get("method").is_none() {
                    break message;
                }
            };
            let error = &answer["error"];
            match error["code"].as_i64() {
                // `ContentModified`, and `ServerCancelled`.
                Some(-32801 | -32802) => {}
                Some(_) => return Err(format!("{method}: {error}")),
                None => return Ok(answer["result"].clone()),
            }
        }
    }

    fn tell(&mut self, method: &str, params: &Value) -> Result<(), String> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let body = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{body}", body.len())
            .and_then(|()| self.to.flush())
            .map_err(|error| format!("the server does not listen: {error}"))
    }

    /// The next message that is no question. Questions are answered: there is nothing to configure.
    fn hear(&mut self) -> Result<Value, String> {
        loop {
            let message = self.from.recv_timeout(PATIENCE);
            let message = message.map_err(|error| format!("the server says nothing: {error}"))?;
            let (Some(id), Some(_)) = (message.get("id"), message.get("method")) else {
                return Ok(message);
            };
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": null }))?;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that has ended needs no end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads one message: header lines, an empty line, a body.
fn message(output: &mut impl BufRead) -> io::Result<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        length = line.strip_prefix("Content-Length: ").and_then(|n| n.parse().ok()).or(length);
    }
    let mut body = vec![0; length.ok_or(io::ErrorKind::InvalidData)?];
    output.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

/// A file as the protocol names it.
pub(crate) fn address(file: &Path) -> String {
    let mut address = "file://".to_owned();
    for byte in file.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address
}
