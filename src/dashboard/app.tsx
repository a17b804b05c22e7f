// The whole dashboard: who is there, and what is shown to them.

import { Component, type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { type ApiFailure, failureOf } from './data/client/client.ts';
import { pathOf } from './data/routing/paths.ts';
import { meetViewer, viewer } from './data/session/session.ts';
import { signInToken } from './data/session/sign-in-token.ts';
import { places } from './screens/index.tsx';
import { SignIn } from './screens/sign-in/index.tsx';
import { NotThere } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';
import { Button } from './ui/button.tsx';
import { ErrorNote } from './ui/feedback/error-note.tsx';
import { Skeleton } from './ui/feedback/skeleton.tsx';
import { Toasts } from './ui/feedback/toast.tsx';

const HOME = pathOf('endpoints');
const SIGN_IN = pathOf('sign-in');

/** Where a stranger wanted to go. In memory only: an address that sends on to another would serve who forges it. */
let wanted = HOME;

export function App() {
  return (
    <LocationProvider scope="/dashboard">
      <Whoever />
      <Toasts />
    </LocationProvider>
  );
}

function Whoever() {
  const { path, url, route } = useLocation();
  const [error, setError] = useState<ApiFailure>();
  const isStranger = viewer.value === null || signInToken.value !== null;

  async function meet() {
    setError(undefined);
    await meetViewer().catch((thrown) => setError(failureOf(thrown)));
  }

  useEffect(() => {
    if (viewer.value === undefined) void meet();
  });
  useEffect(() => {
    if (viewer.value === undefined) return;
    if (isStranger && path !== SIGN_IN) {
      wanted = url;
      route(SIGN_IN, true);
    } else if (!isStranger && path === SIGN_IN) {
      route(wanted, true);
      wanted = HOME;
    } else if (!isStranger && path === pathOf()) {
      route(HOME, true);
    }
  }, [isStranger, path, url, route, viewer.value]);

  if (error) {
    return (
      <main class="alone">
        <ErrorNote error={error} retry={() => void meet()} />
      </main>
    );
  }
  if (viewer.value === undefined) {
    return (
      <main class="alone">
        <Skeleton />
      </main>
    );
  }
  return isStranger ? <SignIn /> : <Screens />;
}

function Screens() {
  return (
    <Shell places={places}>
      <Broken>
        <Router>
          {places.flatMap(({ folder, component }) => [
            <Route key={folder} path={pathOf(folder)} component={component} />,
            <Route key={`${folder}/`} path={`${pathOf(folder)}/*`} component={component} />,
          ])}
          <Route default component={NotThere} />
        </Router>
      </Broken>
    </Shell>
  );
}

/** Keeps a mistake in one screen from emptying the whole page. */
class Broken extends Component<{ children: ComponentChildren }, { error: Error | null }> {
  override state = { error: null as Error | null };

  override componentDidCatch(error: Error) {
    this.setState({ error });
  }

  render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div class="page">
        <h1>This screen failed</h1>
        <div class="note error" role="alert">
          <p>{error.message}</p>
        </div>
        <div>
          <Button look="primary" onClick={() => location.reload()}>
            Load the page again
          </Button>
        </div>
      </div>
    );
  }
}
