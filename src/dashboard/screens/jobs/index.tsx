import '../../style/list.css';
import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import { JobList } from './list.tsx';
import { JobPage } from './page.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={JobList} />
      <Route path="/:id" component={JobPage} />
      <Route default component={NotFound} />
    </Router>
  );
}
