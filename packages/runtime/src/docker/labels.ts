/** Labels of the containers and the network of a service. The host id distinguishes them from those of other services. */
export const hostLabel = 'bothost.host';
export const instanceLabel = 'bothost.instance';
export const deploymentLabel = 'bothost.deployment';
export const organizationLabel = 'bothost.organization';
export const agentLabel = 'bothost.agent';

/** A filter of the engine for everything of a host. */
export const filterByHost = (hostId: string, further: object = {}) =>
  JSON.stringify({ label: [`${hostLabel}=${hostId}`], ...further });
