/**
 * Declares the parts of undici that the service loads at its start, because the package declares types only for its entry point.
 * The entry point also loads fetch, caches, WebSockets and mocks, which take 7 MB of memory.
 */
declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';
  export = buildConnector;
}

declare module 'undici/lib/core/errors.js' {
  import { errors } from 'undici';
  export = errors;
}

declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici';
  export = Agent;
}
