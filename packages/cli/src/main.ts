import { createProcessIo } from './io/process-io.ts';
import { runCommandLine } from './program.ts';

// If the event loop becomes empty before `runCommandLine` settles, the process must not exit with status 0.
process.exitCode = 1;
const io = createProcessIo(() => {
  // Standard output may fail after the command has set its exit status. The exit status is 1 then, too.
  process.once('exit', () => {
    process.exitCode = 1;
  });
});
// Not `await`: it would block commands whose chunk imports code that the bundler has put into this one.
void runCommandLine(io, process.argv.slice(2)).then((status) => {
  process.exitCode = status;
});
