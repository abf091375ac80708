import type { TestProject } from 'vitest/node';
import { startBuiltService } from '../../../../test/built-service.ts';
import { findFreePort } from '../../../server/test/support/free-port.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The service of all test files. It has no agents, and sends requests for rooms of Daily to `dailyPort`. */
    talkingService: {
      readonly origin: string;
      readonly privateKey: string;
      readonly publicKey: string;
      readonly folder: string;
      readonly dailyPort: number;
    };
  }
}

const buildVariable = /^(PIP_|UV_|npm_config_registry$|https?_proxy$|no_proxy$|SSL_CERT_|NODE_EXTRA_CA)/i;

/** Global setup of vitest: starts one service, so that the packages of the bots of all test files are installed only once. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // biome-ignore lint/style/noProcessEnv: settings of the machine, not of the service
  const environment = process.env;
  const inherited = Object.entries(environment).filter(([name]) => buildVariable.test(name));
  const dailyPort = await findFreePort();
  const service = await startBuiltService({
    ...(Object.fromEntries(inherited) as Record<string, string>),
    // Put uv in PATH, so that the service does not install it.
    PATH: `${environment['PATH']}:${project.getProvidedContext().uvFolder}`,
    BOTHOST_AGENTS: '',
    BOTHOST_DAILY_API_URL: `http://127.0.0.1:${dailyPort}/v1`,
    BOTHOST_BUILD_ENVIRONMENT: inherited.map(([name]) => name).join(','),
  });
  const { origin, privateKey, publicKey, folder } = service;
  project.provide('talkingService', { origin, privateKey, publicKey, folder, dailyPort });
  return service.close;
}
