import { createProcessIo } from './io/process-io.ts';
import { run } from './program.ts';

// If the event loop becomes empty before `run` settles, the process must not exit with status 0.
let status = 1;
let isOutputLost = false;
// Standard output can fail after the command has ended, so the exit status is known only when the process exits.
process.once('exit', () => {
  process.exitCode = isOutputLost ? 1 : status;
});
const io = createProcessIo(() => {
  isOutputLost = true;
});
status = await run(io, process.argv.slice(2));
