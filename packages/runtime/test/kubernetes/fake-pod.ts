/** The parts of a pod that the fake cluster reads and writes. Requests may have more. */
export type FakePod = {
  apiVersion: 'v1';
  kind: 'Pod';
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    creationTimestamp: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
  };
  spec: {
    terminationGracePeriodSeconds: number;
    shareProcessNamespace?: boolean;
    imagePullSecrets?: { name: string }[];
    containers: {
      name: string;
      image: string;
      imagePullPolicy: string;
      envFrom: { secretRef: { name: string } }[];
      env: { name: string; value: string }[];
      resources: { limits: { memory: string } };
    }[];
  };
  status: {
    phase: string;
    reason?: string;
    message?: string;
    podIP?: string;
    hostIP?: string;
    conditions: { type: string; status: string; reason?: string; message?: string }[];
    containerStatuses?: { name: string; image: string; imageID: string; state: FakeContainerState }[];
  };
};

export type FakeContainerState = {
  waiting?: { reason: string; message?: string };
  running?: { startedAt: string };
  terminated?: { exitCode: number; reason: string; message?: string; finishedAt: string };
};

export type FakeSecret = {
  metadata: { name: string; ownerReferences?: { uid: string }[] };
  data: Record<string, string>;
};

/** Kubernetes writes times without a fraction. */
export const formatTime = (time = Date.now()) => `${new Date(time).toISOString().slice(0, 19)}Z`;

export const fakeNamespace = 'bots';
