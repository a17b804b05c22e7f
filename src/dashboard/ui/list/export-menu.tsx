import { useState } from 'preact/hooks';
import { type ApiFailure, toApiFailure } from '../../data/client/client.ts';
import { download } from '../../data/client/download.ts';
import { listVariables } from '../../data/routing/list-state.ts';
import { Button } from '../button.tsx';
import { ErrorNote } from '../feedback/error-note.tsx';
import { Menu } from './menu.tsx';
import type { ListView } from './use-list-view.ts';

const FORMATS = [
  { format: 'csv', title: 'CSV', help: 'for spreadsheets' },
  { format: 'jsonl', title: 'JSON lines', help: 'for programs' },
] as const;

/** Downloads the list as it is filtered and ordered. */
export function ExportMenu<Row>({ view: { kind, state, list, hasOwnVariables } }: { view: ListView<Row> }) {
  const [isOpen, setOpen] = useState(false);
  const [running, setRunning] = useState<string>();
  const [error, setError] = useState<ApiFailure>();
  const path = kind?.exportPath;
  if (!path) return null;
  const { filter = '', search = '', orderBy = '' } = listVariables(state);

  async function save(format: string) {
    setRunning(format);
    setError(undefined);
    try {
      await download(`${path}?${given({ format, filter, search, order_by: orderBy })}`);
      setOpen(false);
    } catch (thrown) {
      setError(toApiFailure(thrown));
    }
    setRunning(undefined);
  }

  const count = hasOwnVariables ? undefined : list.totalCount;
  return (
    <Menu title="Export" label="Export" isOpen={isOpen} onToggle={setOpen} isAtEnd>
      <ul class="menu-links">
        {FORMATS.map(({ format, title, help }) => (
          <li key={format}>
            <Button isBusy={running === format} onClick={() => void save(format)}>
              {title}
            </Button>{' '}
            <span class="muted">{help}</span>
          </li>
        ))}
      </ul>
      <ErrorNote error={error} />
      <p class="help">
        {count === undefined ? 'All that fit the filter' : `All ${count.toLocaleString('en')} that the list shows`}, in
        its order and with all members that the API has.
      </p>
    </Menu>
  );
}

function given(parameters: Record<string, string>): URLSearchParams {
  return new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
}
