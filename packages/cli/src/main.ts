import { processWorld } from './process-world.ts';
import { run } from './program.ts';

process.exitCode = await run(processWorld(), process.argv.slice(2));
