import { Button } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';

/** What stands where a screen could not be loaded. */
export function Outdated() {
  return (
    <Page title="This screen could not be loaded">
      <p>The gateway may have been updated since this page was opened, or it can’t be reached.</p>
      <div>
        <Button look="primary" onClick={() => location.reload()}>
          Load the page again
        </Button>
      </div>
    </Page>
  );
}
