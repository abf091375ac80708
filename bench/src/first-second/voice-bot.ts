import { execFile } from 'node:child_process';
import { appendFile, copyFile, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { minimalEnvironment } from '../program.ts';
import { botcliProgramPath, standInVendorsModulePath } from '../repository.ts';

const options = '-t smallwebrtc -t exotel -m cascade --stt deepgram_stt --llm openai_llm --tts cartesia_tts'.split(' ');

/**
 * Writes a bot as `botcli init` generates it, for browsers and phones. The telephone carrier is Exotel, because the bots for all
 * other carriers send requests to their carrier. Also adds a package with which the benchmark synthesizes the callers' speech;
 * the bot does not import it.
 */
export async function writeVoiceBot(directory: string, standIns: string): Promise<void> {
  const project = `${directory}-project`;
  await promisify(execFile)(process.execPath, [botcliProgramPath, 'init', project, ...options], {
    env: minimalEnvironment,
  });
  await copyFile(join(project, 'server/bot.py'), join(directory, 'bot.py'));
  const pyproject = await readFile(join(project, 'server/pyproject.toml'), 'utf8');
  const changed = pyproject.replace('\ndependencies = [\n', '$&    "espeakng-loader",\n');
  if (changed === pyproject) throw new Error('The generated pyproject.toml has no list of dependencies.');
  await writeFile(join(directory, 'pyproject.toml'), changed);
  await rm(project, { recursive: true });
  await copyFile(standInVendorsModulePath, join(directory, 'reach_stand_ins.py'));
  await appendFile(join(directory, 'bot.py'), servedEntryPoint(createBotEnvironmentVariables('.', standIns)));
}

/** Returns environment variables for the bot in `directory`, which make it connect to the local stand-ins of its vendors. */
export function createBotEnvironmentVariables(directory: string, standIns: string): Readonly<Record<string, string>> {
  return {
    DEEPGRAM_API_KEY: 'placeholder',
    OPENAI_API_KEY: 'placeholder',
    CARTESIA_API_KEY: 'placeholder',
    OPENAI_BASE_URL: `http://${standIns}/v1`,
    STAND_INS: standIns,
    PIPECAT_SETUP_FILES: join(directory, 'reach_stand_ins.py'),
  };
}

/**
 * Returns code to append to `bot.py` that sets environment variables when the service calls the bot. Secret sets do not accept
 * some of these names. The code has no effect when a person runs `python bot.py`.
 */
function servedEntryPoint(variables: Readonly<Record<string, string>>): string {
  return `

generated_bot = bot


async def bot(arguments):
    os.environ.update(${JSON.stringify(variables)})
    await generated_bot(arguments)
`;
}

/**
 * Returns the path of the Python interpreter that the service installed for a bot of the benchmark; all these bots have the same
 * packages. The path contains a symbolic link, because the speech synthesizer accepts only short paths.
 */
export async function findInterpreter(dataDirectory: string): Promise<string> {
  const environments = join(dataDirectory, 'environments');
  const [owner = ''] = await readdir(environments);
  const [name = ''] = await readdir(join(environments, owner));
  const link = join(dataDirectory, '../python');
  await symlink(join(environments, owner, name, 'env'), link);
  return join(link, 'bin/python');
}
