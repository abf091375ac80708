import type { VendorService } from '../catalogue/vendor-service.ts';
import type { ProjectPlan } from '../configuration/plan.ts';
import { describeVariable } from '../python/environment.ts';
import { collectEnvironmentVariables, type EnvironmentVariable } from '../python/expression.ts';

export type EnvironmentVariableGroup = {
  readonly title: string;
  readonly site: string | null;
  readonly variables: readonly EnvironmentVariable[];
};

/**
 * Lists every environment variable of a project once, in the group of the first vendor or feature that uses the variable. A
 * variable is required if any part of the project requires it.
 */
export function groupEnvironmentVariables(plan: ProjectPlan): readonly EnvironmentVariableGroup[] {
  const groups = [
    ...plan.services.map(({ service, vendor }) => ({
      title: vendor.name,
      site: vendor.site,
      variables: listServiceEnvironmentVariables(service),
    })),
    ...plan.transports.map(({ label, variables }) => ({ title: label, site: null, variables })),
    { title: 'Twilio', site: null, variables: plan.has('bridged-dial-in') ? carrierAccount : [] },
    { title: 'server.py', site: null, variables: plan.has('bridged-dial-in') ? webhook : [] },
  ];
  const all = groups.flatMap(({ variables }) => variables);
  const seen = new Set<string>();
  const merged = new Map<string, EnvironmentVariableGroup>();
  for (const { title, site, variables } of groups) {
    const own = variables.filter(({ name }) => !seen.has(name) && seen.add(name));
    const before = merged.get(title)?.variables ?? [];
    const now = own.map((one) => ({
      ...one,
      required: all.some(({ name, required }) => required && name === one.name),
    }));
    if (before.length + now.length > 0) merged.set(title, { title, site, variables: [...before, ...now] });
  }
  return [...merged.values()];
}

export function listServiceEnvironmentVariables(service: VendorService): readonly EnvironmentVariable[] {
  const values = Object.values({ ...service.arguments, ...service.settings });
  return [...values.flatMap(collectEnvironmentVariables), ...(service.variables ?? [])];
}

export function listRequiredEnvironmentVariables(plan: ProjectPlan): readonly string[] {
  return groupEnvironmentVariables(plan).flatMap(({ variables }) =>
    variables.filter(({ required }) => required).map(({ name }) => name),
  );
}

const carrierAccount = [describeVariable('TWILIO_ACCOUNT_SID', true), describeVariable('TWILIO_AUTH_TOKEN', true)];
const webhook = [
  describeVariable('WEBHOOK_START_URL', false, 'URL that starts bots; default: http://localhost:7860/start'),
  describeVariable('WEBHOOK_START_PUBLIC_KEY', false, 'public key of the hosting service'),
  describeVariable('WEBHOOK_PORT', false, 'port of the carrier’s webhook; default: 8080'),
  describeVariable('WEBHOOK_HOST', false, 'address that it listens on; default: localhost, where a tunnel ends'),
  describeVariable(
    'WEBHOOK_URL',
    false,
    'URL that the carrier requests, https://HOST/call; default: taken from the request',
  ),
];
