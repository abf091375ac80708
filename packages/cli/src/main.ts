import { createProcessIo } from './io/process-io.ts';
import { run } from './program.ts';

// If the event loop becomes empty before `run` settles, the process must not exit with status 0.
process.exitCode = 1;
process.exitCode = await run(createProcessIo(), process.argv.slice(2));
