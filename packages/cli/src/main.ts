import { createProcessIo } from './io/process-io.ts';
import { runCommandLine } from './program.ts';

// If the event loop becomes empty before `runCommandLine` settles, the process must not exit with status 0.
process.exitCode = 1;
const io = createProcessIo(() => {
  // Exit with status 1 even if standard output fails after the command has ended.
  process.once('exit', () => {
    process.exitCode = 1;
  });
});
process.exitCode = await runCommandLine(io, process.argv.slice(2));
