import type { Plan } from '../configuration/plan.ts';
import type { Variable } from '../python/expression.ts';
import { variableGroups } from './variables.ts';

/**
 * `server/.env.example`: copied as it is and filled, it works. What is optional is a comment, since an empty line would
 * replace a default by nothing.
 */
export function envExampleFile(plan: Plan): string {
  const groups = variableGroups(plan).map(({ title, site, variables }) => {
    const needed = variables.filter(({ required }) => required);
    const optional = variables.filter(({ required }) => !required);
    return [
      `# ${site === null ? title : `${title}: ${site}`}`,
      ...needed.flatMap((one) => [...remark(one), `${one.name}=`]),
      ...optional.map((one) => `# ${one.name}=${described(one)}`),
    ].join('\n');
  });
  const head = [
    '# Copy this file to .env and fill in every variable without a #. Remove the # from optional variables that you want to set.',
    '# The file .env holds secrets: keep it out of git and out of images.',
  ].join('\n');
  return `${[head, ...groups].join('\n\n')}\n`;
}

function remark({ about }: Variable): readonly string[] {
  return about === undefined ? [] : [`# ${about}`];
}

function described({ name, about, fallback }: Variable): string {
  const [, noun, otherwise] = meanings.find(([ending]) => name.endsWith(ending)) ?? [];
  const absent = fallback ?? (about === undefined ? otherwise : undefined);
  const meaning = [about ?? noun, absent && `default: ${absent}`].filter((part) => part !== undefined).join('; ');
  return meaning === '' ? '' : `<${meaning}>`;
}

/** How a name ends, what it is then, and what counts where nothing else is said. */
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
