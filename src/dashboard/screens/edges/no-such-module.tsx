import { Note } from '../../ui/note.tsx';
import { type Crumb, Page } from '../../ui/page.tsx';

/** Stands at an address of a module that there is not. */
export function NoSuchModule({ crumbs }: { crumbs: readonly Crumb[] }) {
  return (
    <Page title="No such module" crumbs={crumbs}>
      <Note>There is no module of this name here.</Note>
    </Page>
  );
}
