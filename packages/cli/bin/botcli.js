#!/usr/bin/env node
'use strict';

// Fast path for `botcli --version`, which scripts and shell prompts often call. As a CommonJS file, it avoids Node's ES module
// loader, which takes a quarter of Node's start time. With BOTCLI_OUTPUT set, the version may be JSON, so the main program
// prints it. A test compares the version below with package.json.
const { argv, env } = process;
if (argv.length === 3 && argv[2] === '--version' && !env.BOTCLI_OUTPUT) {
  const line = 'botcli 0.1.0\n';
  try {
    // Write to file descriptor 1 directly, because creating the stream `process.stdout`, which happens on its first use, is slow.
    require('node:fs').writeSync(1, line);
  } catch {
    // The synchronous write failed because the pipe is full or closed. Write to the stream, which waits for a slow reader, and
    // ignore the error of a closed pipe.
    process.stdout.on('error', () => {});
    process.stdout.write(line);
  }
} else {
  import('../dist/main.js');
}
