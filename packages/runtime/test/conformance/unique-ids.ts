import { randomBytes } from 'node:crypto';
import type { InstanceEvent, InstanceLifecycle, Runtime } from '../../src/runtime.ts';
import type { InstanceProbe } from './probe.ts';

/**
 * Maps short names for instances to ids. Ids may have to be unique on the whole machine, where the same test can run twice at
 * once, so each id is the name with a random suffix.
 */
export type UniqueIds = {
  readonly idOf: (name: string) => string;
  readonly named: (runtime: Runtime) => Runtime;
  readonly namedProbe: (probe: InstanceProbe) => InstanceProbe;
};

export function createUniqueIds(): UniqueIds {
  const suffix = `-${randomBytes(6).toString('hex')}`;
  const idOf = (name: string) => `${name}${suffix}`;
  const nameOf = (id: string) => (id.endsWith(suffix) ? id.slice(0, -suffix.length) : id);
  const withName = <T extends { readonly instanceId: string }>(value: T): T => ({
    ...value,
    instanceId: nameOf(value.instanceId),
  });

  async function* watch(runtime: InstanceLifecycle, signal: AbortSignal): AsyncGenerator<InstanceEvent> {
    for await (const event of runtime.watch(signal)) yield withName(event);
  }

  const named = (runtime: Runtime): Runtime => {
    const { outputs } = runtime;
    return {
      ...runtime,
      start: (spec, signal, launched) =>
        runtime.start({ ...spec, instanceId: idOf(spec.instanceId) }, signal, launched),
      stop: (name, grace) => runtime.stop(idOf(name), grace),
      sessionOpening: (name) => runtime.sessionOpening(idOf(name)),
      sessionOpened: (name) => runtime.sessionOpened(idOf(name)),
      list: async () => (await runtime.list()).map(withName),
      inspect: async (name) => {
        const observed = await runtime.inspect(idOf(name));
        return observed === null ? null : withName(observed);
      },
      isAddressCurrent: (name) => runtime.isAddressCurrent(idOf(name)),
      findReplaceable: () => new Set([...runtime.findReplaceable()].map(nameOf)),
      watch: (signal) => watch(runtime, signal),
      sample: async (names) => {
        const usages = await runtime.sample(names.map(idOf));
        return new Map([...usages].map(([id, usage]) => [nameOf(id), usage]));
      },
      forget: (name) => runtime.forget(idOf(name)),
      conversations: {
        read: (name, file, offset, bytes) => runtime.conversations.read(idOf(name), file, offset, bytes),
      },
      outputs: {
        ...outputs,
        find: (name) => outputs.find(idOf(name)),
        tail: (name) => outputs.tail(idOf(name)),
        changed: (names, since, signal) => outputs.changed(names.map(idOf), since, signal),
        release: (name, directory) => outputs.release(idOf(name), directory),
      },
    };
  };

  const namedProbe = (probe: InstanceProbe): InstanceProbe => ({
    ...probe,
    countProcesses: (name) => probe.countProcesses(idOf(name)),
    kill: (name, signal) => probe.kill(idOf(name), signal),
    attacks: (name) => probe.attacks(idOf(name)),
    privateFiles: (name) => probe.privateFiles(idOf(name)),
  });

  return { idOf, named, namedProbe };
}
