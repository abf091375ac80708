import type { TransportClient } from '../catalogue/transport.ts';
import type { ProjectPlan } from '../configuration/plan.ts';
import type { ClientKind } from './client-kind.ts';

const react = { react: '^19.3.1', 'react-dom': '^19.3.1' };
const reactTypes = { '@types/react': '^19.3.0', '@types/react-dom': '^19.3.0' };

const perKind: Readonly<
  Record<
    ClientKind,
    {
      readonly scripts: Readonly<Record<string, string>>;
      readonly dependencies: Readonly<Record<string, string>>;
      readonly devDependencies: Readonly<Record<string, string>>;
    }
  >
> = {
  vanilla: {
    scripts: { dev: 'vite', build: 'tsc && vite build', preview: 'vite preview' },
    dependencies: {},
    devDependencies: { vite: '^8.3.8' },
  },
  'react-vite': {
    scripts: { dev: 'vite', build: 'tsc && vite build', preview: 'vite preview' },
    dependencies: react,
    devDependencies: { ...reactTypes, '@vitejs/plugin-react': '^6.3.0', vite: '^8.3.8' },
  },
  'react-nextjs': {
    scripts: { dev: 'next dev', build: 'next build', start: 'next start' },
    dependencies: { ...react, next: '^16.4.6' },
    devDependencies: { ...reactTypes, '@types/node': '^24.0.0' },
  },
};

/** The TypeScript version of generated clients. Both Vite and Next.js support it. */
const compiler = '~6.0.2';

export function generatePackageJson(
  plan: ProjectPlan,
  kind: ClientKind,
  transports: readonly TransportClient[],
): string {
  const { scripts, dependencies, devDependencies } = perKind[kind];
  const document = {
    name: `${plan.slug}-client`,
    private: true,
    version: '0.1.0',
    type: 'module',
    engines: { node: `>=${findNodeVersion(transports)}` },
    scripts: { ...scripts, lint: 'biome check' },
    dependencies: sorted({
      '@pipecat-ai/client-js': '^1.13.1',
      ...Object.fromEntries(transports.map((transport) => [transport.package, transport.range])),
      ...dependencies,
    }),
    devDependencies: sorted({ '@biomejs/biome': '^2.6.8', typescript: compiler, ...devDependencies }),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** The oldest Node.js version that the build tools of all clients support. */
export const minimumNodeVersion = '20.19';

/** The oldest Node.js version that can build a client with these transports. */
export function findNodeVersion(transports: readonly Pick<TransportClient, 'node'>[]): string {
  return transports.find(({ node }) => node !== undefined)?.node ?? minimumNodeVersion;
}

function sorted(record: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
