import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { settings } from '../src/settings.ts';

const introduction = `# Configuration

All settings are environment variables, and all have a default: a fresh installation needs none of them. An empty variable
counts as not set, except \`BOTHOST_AGENTS\`. If settings are invalid, the service lists all of them by name and does not start.

A setting marked as secret can also be the path of a file: \`NAME_FILE=/run/secrets/name\`. Its value is never printed or logged.

This page is generated from the settings themselves (\`npx vitest run packages/server/test/config-reference.test.ts -u\`).
`;

const others = `
The service also reads \`HOME\`, \`XDG_DATA_HOME\` and \`XDG_CONFIG_HOME\` for the default places of files, and
\`BOTCLI_CONFIG\`: the file to which the first start writes the profile of \`botcli\`. Of the service's environment, bots get
only \`PATH\`, \`LANG\` and \`TZ\`; builds also get the variables that \`BOTHOST_BUILD_ENVIRONMENT\` names.
`;

/** Generates `docs/configuration.md`: each setting with its meaning and its default. */
function configurationReference(): string {
  const sections = Object.values(settings).map((setting) => {
    const [name, ...aliases] = setting.names;
    const also = aliases.length === 0 ? '' : ` (or ${aliases.map((alias) => `\`${alias}\``).join(', ')})`;
    const secret = setting.secret ? ` Secret: also as \`${name}_FILE\`.` : '';
    return `## \`${name}\`${also}\n\n${setting.description}${secret}\n\nDefault: ${setting.shownDefault}.\n`;
  });
  return `${introduction}\n${sections.join('\n')}${others}`;
}

test('docs/configuration.md matches the settings', async () => {
  const file = fileURLToPath(new URL('../../../docs/configuration.md', import.meta.url));
  await expect(configurationReference()).toMatchFileSnapshot(file);
});
