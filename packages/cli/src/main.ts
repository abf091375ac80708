import { run } from './program.ts';
import { processWorld } from './world/process-world.ts';

// Until there is an answer: a process that has nothing left to wait for must not look as if all were done.
process.exitCode = 1;
process.exitCode = await run(processWorld(), process.argv.slice(2));
