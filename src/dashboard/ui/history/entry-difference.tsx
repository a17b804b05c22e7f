import { Note } from '../feedback/note.tsx';

interface EntryDifferenceProps {
  /** Objects as REST shows them, without secrets. */
  before: unknown;
  after: unknown;
  hiddenChanged: boolean;
}

type Members = Record<string, unknown>;

/** What an entry of the audit trail says of an object: member by member, what it was and what it is. */
export function EntryDifference({ before, after, hiddenChanged }: EntryDifferenceProps) {
  const [old, current] = [before as Members | null, after as Members | null];
  if (hiddenChanged) return <Note>Something changed that is never shown, such as a secret.</Note>;
  if (!old && !current) return <p class="muted">There is nothing more to tell.</p>;
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(current ?? {})])];
  return (
    <div class="difference-scroll">
      <table class="difference">
        <thead>
          <tr>
            <th scope="col">Field</th>
            {old && <th scope="col">Before</th>}
            {current && <th scope="col">{old ? 'After' : 'Value'}</th>}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              {old && <td>{old[name] === undefined ? '' : <Value value={old[name]} isOld={current !== null} />}</td>}
              {current && <td>{current[name] === undefined ? '' : <Value value={current[name]} />}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Value({ value, isOld = false }: { value: unknown; isOld?: boolean }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const shown = text === '' ? <span class="muted">empty</span> : <pre class="user-text">{text}</pre>;
  return isOld ? <del>{shown}</del> : shown;
}
