import type { ProjectPlan } from '../configuration/plan.ts';
import type { EnvironmentVariable } from '../python/expression.ts';
import { groupEnvironmentVariables } from './variables.ts';

/** Generates `server/.env.example`. Optional variables are comments, because an empty value would override a default. */
export function generateEnvExample(plan: ProjectPlan): string {
  const groups = groupEnvironmentVariables(plan).map(({ title, site, variables }) => {
    const requiredOnes = variables.filter(({ required }) => required);
    const optional = variables.filter(({ required }) => !required);
    return [
      `# ${site === null ? title : `${title}: ${site}`}`,
      ...requiredOnes.flatMap((one) => [...aboutLine(one), `${one.name}=`]),
      ...optional.map((one) => `# ${one.name}=${described(one)}`),
    ].join('\n');
  });
  const head = [
    '# Copy this file to .env and fill in every variable without a #. Remove the # from optional variables that you want to set.',
    '# The file .env holds secrets: keep it out of git and out of images.',
  ].join('\n');
  return `${[head, ...groups].join('\n\n')}\n`;
}

function aboutLine({ about }: EnvironmentVariable): readonly string[] {
  return about === undefined ? [] : [`# ${about}`];
}

function described({ name, about, fallback }: EnvironmentVariable): string {
  const [, noun, otherwise] = meanings.find(([ending]) => name.endsWith(ending)) ?? [];
  const absent = fallback ?? (about === undefined ? otherwise : undefined);
  const meaning = [about ?? noun, absent && `default: ${absent}`].filter((part) => part !== undefined).join('; ');
  return meaning === '' ? '' : `<${meaning}>`;
}

/**
 * Maps the ending of a variable's name to a description and, for some variables, to the default that applies if the variable is
 * absent.
 */
const meanings: readonly (readonly [ending: string, noun: string, otherwise?: string])[] = [
  ['_MODEL', 'model', 'the library’s own choice'],
  ['_VOICE_ID', 'voice', 'the library’s own choice'],
  ['_APPLICATION_CREDENTIALS', 'path to a service account file', 'the machine’s own credentials'],
  ['_LOCATION', 'location'],
  ['_REGION', 'region'],
  ['_EDGE', 'edge location'],
  ['_SESSION_TOKEN', 'token of temporary credentials'],
  ['_BASE_URL', 'address of the server'],
];
