import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type FakePod, type FakeSecret, fakeNamespace, formatTime } from './fake-pod.ts';

const root = `/api/v1/namespaces/${fakeNamespace}`;

type WatchEvent = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly object: FakePod;
};

export type FakeRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The body. Empty if there is none. */
  readonly content: string;
};

/** What happens to requests instead of their normal response. */
export type FakeFault = {
  readonly matches: (request: FakeRequest) => boolean;
  /** Number of requests that fail. */
  times: number;
  readonly act:
    | { readonly status: number; readonly message: string; readonly reason?: string; readonly retryAfter?: number }
    /** `no-response`: the connection ends. `lost-response`: it ends after the request was served. `hang`: nothing happens. */
    | 'no-response'
    | 'lost-response'
    | 'hang';
};

export type FakeApiServer = {
  readonly origin: string;
  /** The token that the server accepts. */
  token: string;
  readonly requests: FakeRequest[];
  readonly faults: FakeFault[];
  readonly pods: Map<string, FakePod>;
  readonly secrets: Map<string, FakeSecret>;
  /** Emits `created` and `deleting` with a pod and, for `deleting`, the grace period in seconds. */
  readonly events: EventEmitter<{ created: [FakePod]; deleting: [FakePod, number] }>;
  /** Stores a changed status, and reports it to watches. */
  readonly update: (pod: FakePod) => void;
  readonly remove: (pod: FakePod) => void;
  /** Ends the connections of all watches. `last` is sent before, such as a line that is not complete. */
  readonly dropWatches: (last?: string) => void;
  /** While true, watches get no lines, and their connections stay open. */
  stalls: boolean;
  /** Forgets all events, so that watches of earlier versions get 410. */
  readonly expireHistory: () => void;
  /** While it is set, lists return these pods. */
  staleList: readonly FakePod[] | null;
  readonly close: () => Promise<void>;
};

export type FakePodRoutes = {
  readonly serveLog: (pod: FakePod, query: URLSearchParams, response: ServerResponse) => void;
  readonly readMetrics: () => string;
};

/**
 * Speaks the part of the Kubernetes API that the driver uses, over HTTP: pods with watches, bookmarks and versions, Secrets, and the
 * metrics of a kubelet. It keeps no objects but those of one namespace.
 */
export async function startFakeApiServer(routes: () => FakePodRoutes): Promise<FakeApiServer> {
  let version = 100;
  let history: WatchEvent[] = [];
  let oldest = version;
  const watches = new Set<{ readonly send: (event: WatchEvent) => void; readonly response: ServerResponse }>();
  const record = (type: WatchEvent['type'], pod: FakePod) => {
    version++;
    pod.metadata.resourceVersion = String(version);
    const event = { type, version, object: structuredClone(pod) };
    history.push(event);
    for (const watch of watches) watch.send(event);
  };

  const server: FakeApiServer = {
    origin: '',
    token: 'first-token',
    requests: [],
    faults: [],
    pods: new Map(),
    secrets: new Map(),
    events: new EventEmitter(),
    update: (pod) => {
      if (server.pods.get(pod.metadata.name) === pod) record('MODIFIED', pod);
    },
    remove: (pod) => {
      if (server.pods.get(pod.metadata.name) !== pod) return;
      server.pods.delete(pod.metadata.name);
      record('DELETED', pod);
      for (const [name, { metadata }] of server.secrets)
        if (metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid) === true) server.secrets.delete(name);
    },
    dropWatches: (last = '') => {
      for (const watch of watches) {
        const { response } = watch;
        watches.delete(watch);
        if (last === '') response.destroy();
        else response.end(last);
      }
    },
    stalls: false,
    expireHistory: () => {
      history = [];
      version++;
      oldest = version;
    },
    staleList: null,
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };

  const watchPods = (query: URLSearchParams, response: ServerResponse) => {
    const matches = createSelector(query.get('labelSelector') ?? '');
    const since = Number(query.get('resourceVersion'));
    response.writeHead(200, { 'content-type': 'application/json' });
    if (since < oldest) {
      const status = {
        kind: 'Status',
        status: 'Failure',
        reason: 'Expired',
        code: 410,
        message: 'too old resource version',
      };
      response.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
      return;
    }
    response.flushHeaders();
    let sent = since;
    const send = () => {
      if (server.stalls) return;
      const next = history.findLastIndex((event) => event.version <= sent) + 1;
      for (const { type, object } of history.slice(next))
        if (matches(object)) response.write(`${JSON.stringify({ type, object })}\n`);
      sent = version;
    };
    const bookmark = () => {
      if (server.stalls) return;
      send();
      const object = { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: String(version) } };
      response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    };
    const timer = setInterval(bookmark, 500);
    const watch = { send, response };
    watches.add(watch);
    response.on('close', () => {
      clearInterval(timer);
      watches.delete(watch);
    });
    send();
  };

  const createPod = (body: FakePod, response: ServerResponse) => {
    const { name } = body.metadata;
    if (server.pods.has(name)) return fail(response, 409, `pods "${name}" already exists`, 'AlreadyExists');
    const metadata = { ...body.metadata, uid: randomUUID(), resourceVersion: '', creationTimestamp: formatTime() };
    const pod: FakePod = { ...body, metadata, status: { phase: 'Pending', conditions: [] } };
    server.pods.set(name, pod);
    record('ADDED', pod);
    send(response, 201, pod);
    server.events.emit('created', pod);
  };

  const deletePod = (pod: FakePod, body: DeleteOptions, response: ServerResponse) => {
    const { uid } = body.preconditions ?? {};
    if (uid !== undefined && uid !== pod.metadata.uid)
      return fail(response, 409, 'the UID in the precondition differs', 'Conflict');
    const seconds = body.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds;
    const isOver = pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';
    if (!isOver && pod.metadata.deletionTimestamp === undefined) {
      pod.metadata.deletionTimestamp = formatTime(Date.now() + seconds * 1000);
      server.update(pod);
    }
    send(response, 200, pod);
    if (isOver) server.remove(pod);
    else server.events.emit('deleting', pod, seconds);
  };

  const serve = (request: IncomingMessage, response: ServerResponse, { method, path, query, content }: FakeRequest) => {
    if (request.headers.authorization !== `Bearer ${server.token}`)
      return fail(response, 401, 'Unauthorized', 'Unauthorized');
    const body = content === '' ? {} : JSON.parse(content);
    if (path === '/version') return send(response, 200, { major: '1', minor: '34' });
    if (path === '/metrics/resource') return response.end(routes().readMetrics());
    const [, kind, name = '', sub] = new RegExp(`^${root}/(pods|secrets)(?:/([^/]+))?(?:/(log))?$`).exec(path) ?? [];
    if (kind === 'secrets') return serveSecret(method, name, body, response);
    if (kind !== 'pods') return fail(response, 404, 'the server could not find the requested resource', 'NotFound');
    if (method === 'POST') return createPod(body, response);
    if (name === '') {
      if (query.get('watch') === 'true') return watchPods(query, response);
      const matches = createSelector(query.get('labelSelector') ?? '');
      const items = (server.staleList ?? [...server.pods.values()]).filter(matches);
      const from = Number(query.get('continue') ?? 0);
      const to = from + Number(query.get('limit') ?? items.length);
      const next = to < items.length ? { continue: String(to) } : {};
      return send(response, 200, {
        metadata: { resourceVersion: String(version), ...next },
        items: items.slice(from, to),
      });
    }
    const pod = server.pods.get(name);
    if (pod === undefined) return fail(response, 404, `pods "${name}" not found`, 'NotFound');
    if (sub === 'log') return routes().serveLog(pod, query, response);
    if (method === 'DELETE') return deletePod(pod, body, response);
    if (method === 'PATCH') {
      pod.metadata.labels = { ...pod.metadata.labels, ...body.metadata?.labels };
      pod.metadata.annotations = { ...pod.metadata.annotations, ...body.metadata?.annotations };
      server.update(pod);
    }
    send(response, 200, pod);
  };

  const serveSecret = (method: string, name: string, body: FakeSecret, response: ServerResponse) => {
    const key = method === 'POST' ? body.metadata.name : name;
    const exists = server.secrets.has(key);
    if (method === 'POST' && exists) return fail(response, 409, `secrets "${key}" already exists`, 'AlreadyExists');
    if (method === 'POST') {
      const uids = [...server.pods.values()].map(({ metadata }) => metadata.uid);
      const isOrphaned = body.metadata.ownerReferences?.every(({ uid }) => !uids.includes(uid)) ?? false;
      // The garbage collector deletes what has lost its owner.
      if (!isOrphaned) server.secrets.set(key, body);
    } else if (!server.secrets.delete(key)) return fail(response, 404, `secrets "${key}" not found`, 'NotFound');
    send(response, 200, {});
  };

  const http = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://fake');
    const content = await text(request);
    const received = { method: request.method ?? '', path: url.pathname, query: url.searchParams, content };
    server.requests.push(received);
    const fault = server.faults.find(({ times, matches }) => times > 0 && matches(received));
    if (fault !== undefined) fault.times--;
    const act = fault?.act;
    if (act === 'hang') return;
    if (act === 'no-response') return void request.socket.destroy();
    if (act === 'lost-response') response.write = () => request.socket.destroy() !== null;
    if (typeof act === 'object') {
      if (act.retryAfter !== undefined) response.setHeader('retry-after', act.retryAfter);
      return fail(response, act.status, act.message, act.reason ?? 'InternalError');
    }
    serve(request, response, received);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return Object.assign(server, { origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}` });
}

type DeleteOptions = { readonly gracePeriodSeconds?: number; readonly preconditions?: { readonly uid?: string } };

function createSelector(text: string): (pod: FakePod) => boolean {
  const [name = '', value] = text.split('=');
  return ({ metadata }) => name === '' || metadata.labels?.[name] === value;
}

/** Writes before it ends, so that a fault can destroy the connection. */
function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.write(JSON.stringify(body));
  response.end();
}

function fail(response: ServerResponse, code: number, message: string, reason: string): void {
  send(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code });
}
