import { type FormEvent, useState } from 'react';
import { talkPath } from './route.ts';

/** The page at `/`: introduces the service and opens the talk page of an agent. */
export function StartPage() {
  const [agent, setAgent] = useState('parrot');
  const openTalkPage = (event: FormEvent) => {
    event.preventDefault();
    if (agent.trim() !== '') location.assign(talkPath(agent.trim()));
  };
  return (
    <section className="card welcome">
      <img className="hero" src="/assets/parrot.svg" alt="" width="112" height="112" />
      <h1>Your voice bots</h1>
      <p className="lead">
        This service runs voice bots on your own machine. It comes with one: a parrot, which repeats what it hears.
      </p>
      <form className="row" onSubmit={openTalkPage}>
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
        For everything else, use <code>npx botcli</code> or the <a href="/docs">API</a>.
      </p>
    </section>
  );
}
