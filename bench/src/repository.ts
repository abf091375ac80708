import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
export const repositoryRoot = at('');
export const bothostServerProgramPath = at('packages/server/dist/main.js');
export const parrotBotProgramPath = at('examples/parrot/dist/main.js');
export const botcliProgramPath = at('packages/cli/bin/botcli.js');
export const pipecatEchoDirectory = at('examples/pipecat-echo');
/** Path of the Python file that connects Pipecat's services to the stand-in vendors. */
export const standInVendorsModulePath = at('packages/cli/test/stand-in-vendors/reach_stand_ins.py');
/** Path of a Python program that synthesizes speech as Base64-encoded mu-law at 8000 Hz. */
export const speechSynthesisProgramPath = at('packages/cli/test/generated-bots/say.py');
export const webRtcCallerPath = at('bench/src/programs/webrtc_caller.py');
export const voiceBotsDockerfilePath = at('bench/src/kubernetes/voice-bots.Dockerfile');
export const builtBenchDirectory = at('bench/dist');
/** Path of the Python package that runs bots. */
export const pythonHostDirectory = at('runtimes/python/src/bothost_shim');
