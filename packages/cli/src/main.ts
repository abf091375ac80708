import { tolerateClosedReader } from './closed-reader.ts';
import { readEnvironment } from './config.ts';
import { version } from './version.ts';

const args = process.argv.slice(2);
// The whole program is loaded only when there is more to do: this is what scripts and prompts ask most.
if (args.length === 1 && args[0] === '--version' && readEnvironment().output === null) {
  tolerateClosedReader(process.stdout);
  process.stdout.write(`botcli ${version}\n`);
} else {
  const { processWorld } = await import('./process-world.ts');
  const { run } = await import('./program.ts');
  process.exitCode = await run(processWorld(), args);
}
