import { describe, expect, it } from 'vitest';
import { createTestInstanceSpec } from '../../test/instance-spec.ts';
import { createPodBody, type PodOptions, selectBotHost } from './pod-body.ts';
import { noPodTemplate } from './pod-template.ts';

const create = (options: Partial<PodOptions> = {}) =>
  createPodBody(
    {
      hostId: 'host',
      instanceDiskBytes: 1024 ** 3,
      capabilities: [],
      podTemplate: noPodTemplate,
      botHost: '0.0.0.0',
      ...options,
    },
    createTestInstanceSpec({ instanceId: 'a', deploymentId: 'd1', prepared: {} }),
    { reference: 'registry.test/bot:1', pullsAlways: false, pullSecret: null },
    'a-variables',
  );

describe('createPodBody', () => {
  it('opts out of Istio by a label and of Linkerd by an annotation', () => {
    expect(create()).toMatchObject({
      metadata: {
        labels: { 'sidecar.istio.io/inject': 'false' },
        annotations: { 'linkerd.io/inject': 'disabled' },
      },
    });
  });

  it('permits autoscalers to end pods without a session, unless the template forbids it', () => {
    const name = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
    expect(create()).toMatchObject({ metadata: { annotations: { [name]: 'true' } } });
    const podTemplate = { ...noPodTemplate, metadata: { annotations: { [name]: 'false' } } };
    expect(create({ podTemplate })).toMatchObject({ metadata: { annotations: { [name]: 'false' } } });
  });

  it.each(['0.0.0.0', '::'] as const)('makes bots listen on %s', (botHost) => {
    const env = expect.arrayContaining([{ name: 'BOT_HOST', value: botHost }]);
    expect(create({ botHost })).toMatchObject({ spec: { containers: [{ env }] } });
  });
});

describe('selectBotHost', () => {
  it.each([
    ['https://10.96.0.1:443', '0.0.0.0'],
    ['https://[fd00:10:96::1]:443', '::'],
    ['https://cluster.example.com', '0.0.0.0'],
  ])('returns the address at which bots listen for the API server %s', (url, botHost) => {
    expect(selectBotHost(new URL(url))).toBe(botHost);
  });
});
