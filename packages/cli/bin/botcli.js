#!/usr/bin/env node
'use strict';

// What scripts and prompts ask most is answered here, in a script of the old kind (see package.json beside it): the loader of
// modules alone would take a quarter of the time that Node needs to start. A test compares the version with the package's.
const { argv, env, stdout } = process;
if (argv.length === 3 && argv[2] === '--version' && !env.BOTCLI_OUTPUT) {
  const line = 'botcli 0.1.0\n';
  try {
    // Without a stream, which takes its time to make.
    require('node:fs').writeSync(1, line);
  } catch {
    // A reader that is gone is no failure; one that is busy is waited for.
    stdout.on('error', () => {});
    stdout.write(line);
  }
} else {
  import('../dist/main.js');
}
