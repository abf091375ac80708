#!/usr/bin/env node
'use strict';

// Scripts and shell prompts often call `botcli --version`. This CommonJS file (see package.json beside it) prints the version
// without loading Node's ES module loader, which takes a quarter of Node's start time. A test checks that the version equals the
// version in the package's package.json.
// The environment is read here, outside of config.ts, because BOTCLI_OUTPUT=json makes the version a JSON document.
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
