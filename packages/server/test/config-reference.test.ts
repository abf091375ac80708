import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { settings } from '../src/settings.ts';

const introduction = `# Configuration

Everything is set by environment variables, and everything has a default: a fresh install needs none of them. An empty
variable counts as not set. All problems are reported together, by name, before anything starts.

A setting marked as secret can also be given as the path of a file: \`NAME_FILE=/run/secrets/name\`. Its value is never
printed or logged.

This page is generated from the settings themselves (\`npx vitest run packages/server/test/config-reference.test.ts -u\`).
`;

const others = `
From the rest of its environment, the service reads \`HOME\`, \`XDG_DATA_HOME\` and \`XDG_CONFIG_HOME\` for default places, and
\`BOTCLI_CONFIG\`: where the first start writes the profile of \`botcli\`. Bots get \`PATH\`, \`LANG\` and \`TZ\` of it, and
nothing else; what installs and builds their projects also gets what \`BOTHOST_BUILD_ENVIRONMENT\` names.
`;

/** Generates Generates `docs/configuration.md`: each setting with its meaning and its default. */
function configurationReference(): string {
  const sections = Object.values(settings).map((setting) => {
    const [name, ...aliases] = setting.names;
    const also = aliases.length === 0 ? '' : ` (or ${aliases.map((alias) => `\`${alias}\``).join(', ')})`;
    const secret = setting.secret ? ` Secret: also as \`${name}_FILE\`.` : '';
    return `## \`${name}\`${also}\n\n${setting.about}${secret}\n\nDefault: ${setting.without}.\n`;
  });
  return `${introduction}\n${sections.join('\n')}${others}`;
}

test('docs/configuration.md matches the settings', async () => {
  const file = fileURLToPath(new URL('../../../docs/configuration.md', import.meta.url));
  await expect(configurationReference()).toMatchFileSnapshot(file);
});
