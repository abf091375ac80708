import type { ConversationState } from './conversation';

/** Shows the response times of the services and the events of the session. Collapsed by default. */
export function Details({ metrics, events }: Pick<ConversationState, 'metrics' | 'events'>) {
  const rows = Object.entries(metrics);
  return (
    <details>
      <summary>Metrics and events</summary>
      <div>
        {rows.length > 0 && (
          <table>
            <tbody>
              {rows.map(([name, milliseconds]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{milliseconds} ms</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {events.length === 0 && <p>Nothing has happened yet.</p>}
        <ul aria-label="Events">
          {events.map(({ id, at, text }) => (
            <li key={id}>
              <time dateTime={at.toISOString()}>{at.toLocaleTimeString()}</time> {text}
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}
