import { botPort } from '../bot-port.ts';
import type { InstanceSpec } from '../runtime.ts';
import type { Pod } from './pod-schema.ts';
import { containerName } from './pod-status.ts';
import { mergeParts, type PodTemplate } from './pod-template.ts';

/** Labels of the pods and Secrets of a service. The host id distinguishes them from those of other services in the namespace. */
export const hostLabel = 'bothost.dev/host';
export const deploymentLabel = 'bothost.dev/deployment';
const organizationLabel = 'bothost.dev/organization';
const agentLabel = 'bothost.dev/agent';
const claimedLabel = 'bothost.dev/claimed';
const safeToEvictAnnotation = 'cluster-autoscaler.kubernetes.io/safe-to-evict';

/** The scheduler guarantees half of a profile's CPU, so that nodes are not idle while most bots listen. */
const requestedShareOfCpu = 0.5;
const requestedDiskBytes = 256 * 1024 ** 2;

export type PodOptions = {
  readonly hostId: string;
  /** Maximum bytes of the files that an instance writes. */
  readonly instanceDiskBytes: number;
  /** Linux capabilities of the bot without the prefix `CAP_`, such as `SETUID`. */
  readonly capabilities: readonly string[];
  readonly podTemplate: PodTemplate;
  readonly botHost: '0.0.0.0' | '::';
};

/** Pods use IPv6 if the API server has an IPv6 address. The address is unknown if its URL has a name. */
export const selectBotHost = (apiServer: URL): PodOptions['botHost'] =>
  apiServer.hostname.startsWith('[') ? '::' : '0.0.0.0';

/** The body that creates the pod of an instance. Its name is the id of the instance, so a repeated request creates no second pod. */
export function createPodBody(
  { hostId, instanceDiskBytes, capabilities, podTemplate, botHost }: PodOptions,
  spec: InstanceSpec,
  image: { readonly reference: string; readonly pullsAlways: boolean; readonly pullSecret: string | null },
  environmentSecret: string,
): object {
  const { instanceId, limits } = spec;
  const memory = String(limits.memoryBytes);
  // The template of the operator may replace these values. The driver needs those of `required`.
  const replaceable = {
    // The service reaches bots by HTTP at the addresses of their pods, which a mesh would refuse.
    metadata: {
      labels: { 'sidecar.istio.io/inject': 'false' },
      annotations: {
        'linkerd.io/inject': 'disabled',
        // Otherwise the autoscaler keeps nodes with pods that have no controller. A session replaces this value.
        [safeToEvictAnnotation]: 'true',
      },
    },
    spec: {
      // When a node is drained, a session can end by itself.
      terminationGracePeriodSeconds: spec.drainSeconds,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // Makes the bot an ordinary process: SIGTERM ends it even if it does not handle the signal, and its orphans are reaped.
      shareProcessNamespace: true,
      dnsConfig: { options: [{ name: 'ndots', value: '2' }] },
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    },
    container: {
      imagePullPolicy: 'IfNotPresent',
      resources: {
        // No limit of CPU, which would slow the import of a bot. Under load, nodes divide their CPU by these requests.
        requests: {
          cpu: `${Math.ceil(limits.cpuMillicores * requestedShareOfCpu)}m`,
          memory,
          'ephemeral-storage': String(Math.min(requestedDiskBytes, instanceDiskBytes)),
        },
        limits: { memory, 'ephemeral-storage': String(instanceDiskBytes) },
      },
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'], add: capabilities } },
    },
  };
  const required = {
    metadata: {
      name: instanceId,
      labels: {
        [hostLabel]: hostId,
        [deploymentLabel]: spec.deploymentId,
        [organizationLabel]: spec.organizationId,
        [agentLabel]: spec.agentId,
      },
    },
    spec: {
      restartPolicy: 'Never',
      ...(image.pullSecret === null ? {} : { imagePullSecrets: [{ name: image.pullSecret }] }),
    },
    container: {
      name: containerName,
      image: image.reference,
      // Without this, a node would run an image that it pulled for another organization.
      ...(image.pullsAlways ? { imagePullPolicy: 'Always' } : {}),
      envFrom: [{ secretRef: { name: environmentSecret } }],
      env: [
        { name: 'PORT', value: String(botPort) },
        { name: 'BOT_HOST', value: botHost },
        { name: 'BOTHOST_INSTANCE', value: instanceId },
      ],
      ports: [{ containerPort: botPort }],
    },
  };
  const merge = (part: keyof PodTemplate) => mergeParts(replaceable[part], podTemplate[part], required[part]);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: merge('metadata'),
    spec: { ...merge('spec'), containers: [merge('container')] },
  };
}

/** The variables of an instance. Kubernetes deletes the Secret with the pod. */
export function createEnvironmentSecretBody(
  name: string,
  pod: Pod,
  hostId: string,
  environment: Readonly<Record<string, string>>,
): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      labels: { [hostLabel]: hostId },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid }],
    },
    immutable: true,
    data: Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
    ),
  };
}

/** A change of a pod that has a session: the disruption budget selects the label, and autoscalers know the annotations. */
export const claimedPatch = {
  metadata: {
    labels: { [claimedLabel]: 'true' },
    annotations: {
      [safeToEvictAnnotation]: 'false',
      'karpenter.sh/do-not-disrupt': 'true',
    },
  },
};

export const isMarkedAsClaimed = (pod: Pod | null): boolean => pod?.metadata.labels?.[claimedLabel] !== undefined;
