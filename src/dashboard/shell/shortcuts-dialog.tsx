// The keys of the dashboard, shown by `?`.

import { Dialog } from '../ui/dialogs/dialog.tsx';

const groups: readonly { title: string; keys: readonly (readonly [keys: readonly string[], meaning: string])[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      [['/'], 'search for objects, places and actions'],
      [['Ctrl', 'K'], 'the same, also while typing'],
      [['?'], 'these keys'],
      [['Esc'], 'close a dialog or the menu'],
    ],
  },
  {
    title: 'In a list',
    keys: [
      [['↑'], 'the row above'],
      [['↓'], 'the row below'],
      [['Home'], 'the first row'],
      [['End'], 'the last row that is loaded'],
      [['Page ↓'], 'a page further'],
      [['Enter'], 'open the row'],
      [['x'], 'select the row, or leave it out'],
      [['Shift', 'x'], 'select all rows from the last one selected'],
    ],
  },
  {
    title: 'In a form',
    keys: [
      [['Enter'], 'in a list of lines: another line'],
      [['Esc'], 'leave a dialog; asks if something would be lost'],
    ],
  },
];

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {groups.map(({ title, keys }) => (
        <section key={title} class="shortcuts" aria-label={title}>
          <h3>{title}</h3>
          <dl>
            {keys.map(([names, meaning]) => (
              <div key={meaning}>
                <dt>
                  {names.map((name) => (
                    <kbd key={name}>{name}</kbd>
                  ))}
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
