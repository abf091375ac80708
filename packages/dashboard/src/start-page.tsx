import { type FormEvent, useState } from 'react';
import { talkPath } from './route.ts';

/** `/`: what this is, and the way to a bot. */
export function StartPage() {
  const [agent, setAgent] = useState('parrot');
  const go = (event: FormEvent) => {
    event.preventDefault();
    if (agent.trim() !== '') location.assign(talkPath(agent.trim()));
  };
  return (
    <section className="card welcome">
      <img className="hero" src="/assets/parrot.svg" alt="" width="112" height="112" />
      <h1>Your bots live here</h1>
      <p className="lead">
        This service hosts voice bots on your own machine. One of them is here from the start: a parrot, which says back
        what it hears.
      </p>
      <form className="row" onSubmit={go}>
        <label htmlFor="agent">Agent</label>
        <input
          id="agent"
          value={agent}
          onChange={(event) => setAgent(event.target.value)}
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          required
        />
        <button type="submit" className="primary">
          Talk to it
        </button>
      </form>
      <p className="quiet">
        Everything else is done with <code>npx botcli</code> or over the API: <a href="/docs">its description</a>.
      </p>
    </section>
  );
}
