import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
export const repositoryRoot = at('');
export const serviceFile = at('packages/server/dist/main.js');
export const parrotFile = at('examples/parrot/dist/main.js');
export const botcliFile = at('packages/cli/bin/botcli.js');
export const pipecatEchoDirectory = at('examples/pipecat-echo');
