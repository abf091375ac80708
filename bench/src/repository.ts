import { fileURLToPath } from 'node:url';

/** The built programs. */
const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
export const root = at('');
export const serviceFile = at('packages/server/dist/main.js');
/** The built sample bot, one file. */
export const parrotFile = at('examples/parrot/dist/main.js');
export const botcliFile = at('packages/cli/bin/botcli.js');
/** The sample bot in Python. */
export const pipecatEcho = at('examples/pipecat-echo');
