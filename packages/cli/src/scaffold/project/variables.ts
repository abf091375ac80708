import type { Service } from '../catalogue/service.ts';
import type { Plan } from '../configuration/plan.ts';
import { variable } from '../python/environment.ts';
import { type Variable, variablesOf } from '../python/expression.ts';

/** Environment variables of a vendor, or for a purpose. */
export type VariableGroup = {
  readonly title: string;
  readonly site: string | null;
  readonly variables: readonly Variable[];
};

/** All variables of a project, each in the first group that has it. A variable is required if any part requires it. */
export function variableGroups(plan: Plan): readonly VariableGroup[] {
  const groups = [
    ...plan.services.map(({ service, vendor }) => ({
      title: vendor.name,
      site: vendor.site,
      variables: variablesOfService(service),
    })),
    ...plan.transports.map(({ label, variables }) => ({ title: label, site: null, variables })),
    { title: 'Twilio', site: null, variables: plan.has('bridged-dial-in') ? carrierAccount : [] },
    { title: 'server.py', site: null, variables: plan.has('bridged-dial-in') ? webhook : [] },
  ];
  const all = groups.flatMap(({ variables }) => variables);
  const seen = new Set<string>();
  const merged = new Map<string, VariableGroup>();
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

/** The variables of a service, possibly with duplicates. */
export function variablesOfService(service: Service): readonly Variable[] {
  const values = Object.values({ ...service.arguments, ...service.settings });
  return [...values.flatMap(variablesOf), ...(service.variables ?? [])];
}

/** The names of the variables that must be set. */
export function requiredVariables(plan: Plan): readonly string[] {
  return variableGroups(plan).flatMap(({ variables }) =>
    variables.filter(({ required }) => required).map(({ name }) => name),
  );
}

const carrierAccount = [variable('TWILIO_ACCOUNT_SID', true), variable('TWILIO_AUTH_TOKEN', true)];
const webhook = [
  variable('WEBHOOK_START_URL', false, 'URL that starts bots; default: http://localhost:7860/start'),
  variable('WEBHOOK_START_PUBLIC_KEY', false, 'public key of the hosting service'),
  variable('WEBHOOK_PORT', false, 'port of the carrier’s webhook; default: 8080'),
  variable('WEBHOOK_HOST', false, 'address that it listens on; default: localhost, where a tunnel ends'),
  variable('WEBHOOK_URL', false, 'URL that the carrier requests, https://HOST/call; default: taken from the request'),
];
