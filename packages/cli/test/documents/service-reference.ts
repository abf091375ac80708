import { listMachineRequirements } from '../../src/scaffold/catalogue/machine-needs.ts';
import { type CatalogueService, listServices } from '../../src/scaffold/catalogue/services.ts';
import { type ServiceKind, serviceKinds } from '../../src/scaffold/catalogue/vendor-service.ts';
import { findMinimumPipecatAndPython } from '../../src/scaffold/configuration/plan.ts';
import { listServiceEnvironmentVariables } from '../../src/scaffold/project/variables.ts';
import { formatCode, formatTable } from './markdown.ts';

const headings: Readonly<Record<ServiceKind, string>> = {
  stt: 'Speech to text (`--stt`)',
  llm: 'Language models (`--llm`)',
  tts: 'Text to speech (`--tts`)',
  realtime: 'Speech to speech (`--realtime`)',
  video: 'Video avatars (`--video`)',
};

const columns = [
  'Value',
  'Name',
  'Vendor',
  'Extras of pipecat-ai',
  'pipecat-ai from',
  'Python from',
  'Required variables',
  'Optional variables',
  'Notes',
];

export function generateServiceReference(): string {
  const counts = serviceKinds.reduce((sum, kind) => sum + listServices(kind).length, 0);
  return `${[
    '# Services of botcli init',
    `The ${counts} services for bots. [init.md](init.md) says how to choose them. The packages of all vendors are on PyPI, with ` +
      'wheels for Linux on x86-64 and ARM, and are compatible with each other.',
    'Generated from the catalogue in `packages/cli/src/scaffold/catalogue/vendors.ts` with ' +
      '`npx vitest run packages/cli/test/documents/service-reference.test.ts --update`.',
    ...serviceKinds.flatMap((kind) => [`## ${headings[kind]}`, formatTable(columns, listServices(kind).map(row))]),
  ].join('\n\n')}\n`;
}

function row({ service, vendor }: CatalogueService): readonly string[] {
  const lowest = findMinimumPipecatAndPython([service]);
  const variables = listServiceEnvironmentVariables(service);
  const needed = new Set(variables.filter(({ required }) => required).map(({ name }) => name));
  const optional = new Set(variables.map(({ name }) => name).filter((name) => !needed.has(name)));
  const notes = [
    ...(service.discouraged === undefined ? [] : [service.discouraged]),
    ...listMachineRequirements(service),
    ...(service.aliases ?? []).map((alias) => `alias: ${formatCode(alias)}`),
  ];
  return [
    formatCode(service.value),
    service.label,
    `[${vendor.name}](${vendor.site})`,
    list(service.extras),
    lowest.library,
    lowest.python,
    list([...needed]),
    list([...optional]),
    notes.join('; '),
  ];
}

function list(names: readonly string[]): string {
  return names.map(formatCode).join(', ');
}
