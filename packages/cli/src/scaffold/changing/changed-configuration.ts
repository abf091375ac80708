import { Failure } from '../../failure.ts';
import { serviceKinds } from '../catalogue/service.ts';
import { findService } from '../catalogue/services.ts';
import { findTransport, transportsRequestedBy } from '../catalogue/transports.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { fields, type Given, readConfigFile } from '../configuration/fields.ts';
import { resolve } from '../configuration/resolve.ts';

/**
 * The configuration with a transport more, another service in its role, or a feature turned on; `what` is a value as `init`
 * takes it. A `Failure` says that it is unknown, or why it does not go with the rest.
 */
export function changedConfiguration(configuration: Configuration, what: string): Configuration {
  const { given } = readConfigFile(JSON.stringify(configuration));
  const { configuration: changed, issues } = resolve({ ...given, ...said(given, what) }, configuration.project_name);
  if (changed === null) {
    throw new Failure('invalid-configuration', `${what} does not fit this project. Nothing was changed.`, null, issues);
  }
  return changed;
}

function said(given: Given, what: string): Given {
  const transport = findTransport(what);
  if (transport !== null) {
    const transports = [...(given.transports ?? []), transport.value];
    // A telephone makes a web bot one for telephones.
    return transport.group === 'telephony' ? { transports, bot_type: 'telephony' } : { transports };
  }
  const directed = transportsRequestedBy(what).map(({ value }) => value);
  if (directed.length > 0) {
    throw new Failure('unknown-part', `${what} has two directions.`, `Use ${directed.join(' or ')}.`);
  }
  const kind = serviceKinds.find((candidate) => findService(candidate, what) !== null);
  if (kind !== undefined) return { [`${kind}_service`]: what };
  const feature = Object.entries(fields).find(([, { option, type }]) => type === 'switch' && option === what);
  if (feature !== undefined) return { [feature[0]]: true };
  throw new Failure(
    'unknown-part',
    `${JSON.stringify(what)} is not a transport, service or feature.`,
    'List all values with: botcli init --list-options',
  );
}
