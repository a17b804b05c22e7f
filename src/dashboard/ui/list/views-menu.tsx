import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { listQuery, readListState } from '../../data/routing/list-state.ts';
import {
  removeView,
  renameView,
  type SavedView,
  savedViews,
  saveView,
  setDefaultView,
} from '../../data/session/saved-views.ts';
import { Button } from '../button.tsx';
import { toast } from '../feedback/toast.tsx';
import { Menu } from './menu.tsx';

/** Filters, orders and columns of a list that the user has saved by a name. */
export function ViewsMenu({ list }: { list: string }) {
  const { path, query, route } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const views = savedViews(list);
  const current = listQuery({}, readListState(query));

  function save(event: Event) {
    event.preventDefault();
    const trimmed = name.trim();
    if (!trimmed) return;
    if (!saveView(list, { name: trimmed, query: current })) toast('This browser keeps no views: it denies storage.');
    setName('');
  }

  return (
    <Menu title="Views" label="Saved views" isOpen={isOpen} onToggle={setOpen} isAtEnd>
      {views.length === 0 && <p class="help">A view keeps the filter, the order and the columns by a name.</p>}
      <ul class="menu-links">
        {views.map((view) => (
          <ViewItem
            key={view.name}
            list={list}
            view={view}
            isCurrent={view.query === current}
            onShow={() => {
              setOpen(false);
              route(path + view.query);
            }}
          />
        ))}
      </ul>
      <form class="menu-form" onSubmit={save}>
        <input
          value={name}
          maxLength={60}
          aria-label="Name of the view"
          placeholder="Name of this view"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit">Save</Button>
      </form>
      <p class="help">Kept in this browser. To share a view, send its address.</p>
    </Menu>
  );
}

interface ViewItemProps {
  list: string;
  view: SavedView;
  isCurrent: boolean;
  onShow: () => void;
}

function ViewItem({ list, view, isCurrent, onShow }: ViewItemProps) {
  const [newName, setNewName] = useState<string>();
  const { name, isDefault } = view;
  if (newName !== undefined) {
    const rename = (event: Event) => {
      event.preventDefault();
      if (newName.trim()) renameView(list, name, newName.trim());
      setNewName(undefined);
    };
    return (
      <li>
        <form class="menu-form" onSubmit={rename}>
          <input
            value={newName}
            maxLength={60}
            aria-label={`New name of ${name}`}
            onInput={({ currentTarget }) => setNewName(currentTarget.value)}
          />
          <Button type="submit">Rename</Button>
        </form>
      </li>
    );
  }
  return (
    <li class="menu-view">
      <button type="button" class="button plain" aria-current={isCurrent ? 'true' : undefined} onClick={onShow}>
        {name}
        {isDefault && ' (default)'}
      </button>
      <span class="menu-view-actions">
        <Button
          variant="plain"
          label={isDefault ? `Do not open with ${name}` : `Open the list with ${name}`}
          onClick={() => setDefaultView(list, isDefault ? undefined : name)}
        >
          {isDefault ? '★' : '☆'}
        </Button>
        <Button variant="plain" label={`Rename ${name}`} onClick={() => setNewName(name)}>
          ✎
        </Button>
        <Button variant="plain" label={`Delete ${name}`} onClick={() => removeView(list, name)}>
          ✕
        </Button>
      </span>
    </li>
  );
}
